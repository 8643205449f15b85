"""The arguments of the browser tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

Search = Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]]
"""From a query to its results, best first: mappings with `title`, `url` and, if there is one, `description`."""

ActionName = Literal[
    "go_to_url",
    "click_element",
    "input_text",
    "scroll_down",
    "scroll_up",
    "scroll_to_text",
    "send_keys",
    "get_dropdown_options",
    "select_dropdown_option",
    "go_back",
    "go_forward",
    "refresh",
    "web_search",
    "wait",
    "extract_content",
    "switch_tab",
    "open_tab",
    "close_tab",
    "hover",
    "drag",
    "click_at",
    "upload_file",
    "state",
]


class BrowserArguments(BaseModel):
    """Arguments of `browser_use`."""

    action: ActionName = Field(description="What to do. The other arguments say for which action they are.")
    url: str | None = Field(None, description="Web address, for go_to_url and open_tab.")
    index: int | None = Field(
        None,
        ge=0,
        description="Index of an element in the last state, for click_element, input_text, get_dropdown_options, "
        "select_dropdown_option, hover, drag and upload_file; for scroll_down and scroll_up, an element inside the "
        "box to scroll.",
    )
    text: str | None = Field(
        None,
        description="For input_text, the text, in which <secret>NAME</secret> stands for a stored secret; for "
        "select_dropdown_option, what the option says; for scroll_to_text, the text to find.",
    )
    scroll_amount: int | None = Field(
        None, gt=0, description="Pixels, for scroll_down and scroll_up; without it, the height of the window."
    )
    tab_id: int | None = Field(None, description="Id of a tab in the last state, for switch_tab.")
    query: str | None = Field(None, description="What to search the web for, for web_search.")
    goal: str | None = Field(None, description="What to find in the page, for extract_content.")
    keys: str | None = Field(
        None, description="For send_keys: keys such as Enter, Escape, Control+a; several are separated by blanks."
    )
    seconds: float | None = Field(None, ge=0, le=60, description="How long to wait, for wait; 3 without it.")
    to_index: int | None = Field(None, ge=0, description="For drag: index of the element to drop on.")
    x: float | None = Field(None, description="For click_at, and drag without to_index: pixels from the left edge.")
    y: float | None = Field(None, description="For click_at, and drag without to_index: pixels from the top edge.")
    path: str | None = Field(None, description="For upload_file: path of a file in the workspace.")
