"""What a person is asked about a tool call before it is made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypedDict

if TYPE_CHECKING:  # settings are read where no message is
    from langchain_core.messages import ToolCall

Risk = Literal["low", "medium", "high", "unknown"]
"""What a call may break: `low` nothing, `medium` files of the workspace, `high` more than that."""

ConfirmPolicy = Literal["never", "risky", "always"]
"""Which calls a person is asked about: none, those of high or unknown risk, or all."""

Policy = ConfirmPolicy | Callable[["ToolCall", Risk], bool | Awaitable[bool]]
"""A policy by name, or a function that says for one call and its risk whether a person is asked."""


class Preview(TypedDict):
    """What a call would do, as a person reads it."""

    language: str
    """What the text is: `bash`, `python`, `diff`, `url` or `text`; empty where there is no text."""

    text: str
    """The command, the code, the difference to the file, or the address."""

    arguments: list[str]
    """Names of the arguments that the text shows."""


class PendingCall(TypedDict):
    """One tool call that waits for a person. Plain JSON."""

    id: str
    """Id of the call, by which it is answered."""

    name: str
    """Name of the tool."""

    args: dict[str, Any]
    """Arguments as the model wrote them."""

    risk: str
    """What the call may break: `low`, `medium`, `high` or `unknown`."""

    kind: str
    """What `approve_kind` approves for the rest of the run: all calls of that tool, action and risk."""

    preview: Preview
    """What the call would do."""
