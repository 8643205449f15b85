"""Pictures, as they are shown to a model that sees."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from ...state.errors import ToolFailure
from ..image_blocks import image_block

if TYPE_CHECKING:
    from PIL.Image import Image

SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
"""First bytes of PNG, JPEG, GIF and TIFF."""

ACCEPTED = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Formats that providers take; others are sent as PNG."""

MOST_BYTES = 5_000_000
"""Size of a picture that is sent as it is (as the seed's vision tool compresses to)."""

MOST_PIXELS_A_SIDE = 1920
"""Longer side of a picture that is sent (as the seed's vision tool scales to)."""

MOST_PIXELS = 50_000_000
"""Pixels of a picture that is decoded: more take too much memory."""

JPEG_QUALITY = 85


def is_picture(content: bytes) -> bool:
    """Whether a file with this content is a picture of a known format."""
    webp = content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    bitmap = content[:2] == b"BM" and content[6:10] == bytes(4)
    return webp or bitmap or content.startswith(SIGNATURES)


def show_picture(name: str, content: bytes) -> tuple[str, dict[str, Any]]:
    """One line about the picture, and its image block; a large one is made smaller.

    Raises:
        ToolFailure: it is damaged, or has too many pixels.
    """
    from PIL import Image, UnidentifiedImageError  # slow to import

    try:
        with Image.open(BytesIO(content)) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise ToolFailure(f"{name} has {width} x {height} pixels, too many to show; make it smaller first.")
            line = f"{name}: {picture.format} image, {width} x {height} pixels, {len(content)} bytes"
            mime_type = picture.get_format_mimetype() or ""
            picture.load()
            if mime_type in ACCEPTED and len(content) <= MOST_BYTES and max(width, height) <= MOST_PIXELS_A_SIDE:
                return line, image_block(content, mime_type)
            return _shrunk(line, picture)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise ToolFailure(f"{name} looks like a picture and cannot be decoded ({error}); write it anew.") from error


def _shrunk(line: str, picture: Image) -> tuple[str, dict[str, Any]]:
    smaller = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    smaller.thumbnail((MOST_PIXELS_A_SIDE, MOST_PIXELS_A_SIDE))
    line += f", shown as {smaller.width} x {smaller.height}"
    target = BytesIO()
    smaller.save(target, "PNG")
    if target.tell() <= MOST_BYTES:
        return line, image_block(target.getvalue())
    target = BytesIO()
    smaller.convert("RGB").save(target, "JPEG", quality=JPEG_QUALITY)
    return line, image_block(target.getvalue(), "image/jpeg")
