"""Text that a model sends and that is to be stored or run."""

from __future__ import annotations

from ..state.errors import ToolFailure


def require_text(text: str, argument: str) -> None:
    """Refuse what no file and no program takes.

    Raises:
        ToolFailure: `text` holds a lone surrogate or a NUL character.
    """
    if "\0" in text:
        raise ToolFailure(f"`{argument}` holds a NUL character; write it as an escape instead.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure(
            f"`{argument}` is no valid Unicode text at character {error.start}; send it again."
        ) from error
