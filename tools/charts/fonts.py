"""A font for Chinese, Japanese and Korean text. All of it blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDERS = (
    "~/.fonts",
    "~/.local/share/fonts",
    "~/Library/Fonts",
    "/usr/local/share/fonts",
    "/usr/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
)
"""Where systems keep fonts."""

NAMES = re.compile(
    r"cjk|notosans[sjtk]c|sourcehan|wqy|pingfang|heiti|hiragino|songti|msyh|sim(hei|sun)|fallback|uming", re.I
)
"""Files that may hold such a font."""

CHARACTERS = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
"""Characters that need it."""


def needs_font(text: str) -> bool:
    """Whether the text has such characters."""
    return CHARACTERS.search(text) is not None


def find_font(own: Path) -> tuple[Path, str] | None:
    """File and family of a font for such text: any in the folder `own`, then the system's; None where there is none."""
    for file in (*_fonts([own]), *(font for font in _fonts(map(_expanded, FOLDERS)) if NAMES.search(font.name))):
        if (family := family_with(file, "中")) is not None:
            return file, family
    return None


def family_with(file: Path, character: str) -> str | None:
    """Family name of a font that has the character; None where it has not, or is no font."""
    from PIL import ImageFont  # slow to import

    try:
        font = ImageFont.truetype(str(file), 24)
    except OSError:
        return None
    # What is missing is drawn as one and the same box.
    drawn, missing = (bytes(font.getmask(text)) for text in (character, "\U0010fffe"))
    return font.getname()[0] if drawn != missing else None


def _expanded(folder: str) -> Path:
    return Path(folder).expanduser()


def _fonts(folders: Sequence[Path] | Iterator[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(file for file in folder.rglob("*") if file.suffix.lower() in (".ttf", ".otf", ".ttc"))
