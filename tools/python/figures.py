"""Figures that code has drawn, on their way out of the sandbox."""

from __future__ import annotations

import os
import struct
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from typing import IO, Any

SIGNATURE = b"\x89PNG\r\n\x1a\n"

MOST_FIGURES = 10
"""Figures of one call that are shown."""

MOST_BYTES = 5_000_000
"""Bytes of a figure that is shown."""

LENGTH = struct.Struct(">I")
"""What stands before each figure in a file."""


def read_figures(file: IO[bytes]) -> list[bytes]:
    """PNGs in a file that the runner wrote. The code could write there too, so nothing of it is trusted. Blocking."""
    figures: list[bytes] = []
    place = 0
    while len(figures) < MOST_FIGURES:
        head = os.pread(file.fileno(), LENGTH.size, place)
        if len(head) < LENGTH.size:
            break
        (length,) = LENGTH.unpack(head)
        place += LENGTH.size
        if length <= MOST_BYTES and is_figure(data := os.pread(file.fileno(), length, place)):
            figures.append(data)
        place += length
    return figures


def figure_of(data: Mapping[str, Any]) -> bytes | None:
    """The PNG in a kernel's bundle of representations; None where it has none that can be shown."""
    try:
        figure = b64decode(data["image/png"])
    except (KeyError, TypeError, Error):
        return None
    return figure if is_figure(figure) and len(figure) <= MOST_BYTES else None


def is_figure(data: bytes) -> bool:
    """Whether it begins like a PNG."""
    return data.startswith(SIGNATURE)
