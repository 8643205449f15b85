"""What secrets look like: keys of well-known services, and passwords in addresses."""

from __future__ import annotations

from typing import NamedTuple

RUN = 16
"""Letters and digits in a row that every text of `LONG_SHAPES` has."""

_TAIL = r"[A-Za-z0-9_-]"

LONG_SHAPES: tuple[str, ...] = (
    r"gh[oprsu]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9]{22,}(?:_[A-Za-z0-9]+)*",
    r"A[KS]IA[A-Z0-9]{16}",
    r"hf_[A-Za-z0-9]{30,}",
    r"gsk_[A-Za-z0-9]{40,}",
    r"lsv2_[a-z]{2}_[A-Za-z0-9]{32,}(?:_[A-Za-z0-9]+)*",
    r"npm_[A-Za-z0-9]{36,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"xai-[A-Za-z0-9]{40,}",
    r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,}",
    r"pplx-[A-Za-z0-9]{40,}",
    r"r8_[A-Za-z0-9]{36,}",
    r"dop_v1_[a-f0-9]{64}",
    r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
)
"""Keys with `RUN` letters and digits in a row: one search for such a row tells that none of them is there."""


class MarkedShape(NamedTuple):
    """A text that is searched for by what every one of its kind contains."""

    first: str
    """What is searched for first: the mark, or the one character of it that most texts have not."""

    mark: str
    """What every text of the shape contains."""

    pattern: str
    """The whole."""


MARKED_SHAPES: tuple[MarkedShape, ...] = (
    MarkedShape("sk-", "sk-", rf"sk-(?={_TAIL}*[0-9]){_TAIL}{{20,}}"),
    MarkedShape("glpat-", "glpat-", rf"glpat-{_TAIL}{{20,}}"),
    MarkedShape("z", "AIza", rf"AIza{_TAIL}{{35}}"),
    MarkedShape("xox", "xox", r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    MarkedShape("ya29.", "ya29.", rf"ya29\.{_TAIL}{{20,}}"),
    MarkedShape("pypi-", "pypi-", rf"pypi-{_TAIL}{{50,}}"),
    MarkedShape("J", "eyJ", rf"eyJ{_TAIL}{{8,}}\.eyJ{_TAIL}{{8,}}\.{_TAIL}{{8,}}"),
    MarkedShape("B", "Bearer ", r"Bearer (?=[A-Za-z0-9._~+/-]*[0-9])[A-Za-z0-9._~+/-]{20,}=*"),
    MarkedShape(
        "K",
        "PRIVATE KEY-----",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    ),
)
"""Keys without such a row."""

LOGIN = r"(://)([^\s/@:\"'`<>\\]*:(?![$<{*])[^\s/@\"'`<>\\]+)(?=@)"
"""User and password of an address, after its first group; `{password}` and `$PASSWORD` stand for one and are none."""

START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""Before a key: it does not begin inside a word; but in JSON within a text, an escaped line break ends in a letter."""
