"""What a scripted model is to say, and how its place in a script is found in a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

MARKER = "script"
"""Key of a reply's `response_metadata` with the script's name and the reply's place in it."""

ReplyFunction = Callable[[list[BaseMessage], list[dict[str, Any]]], Any]
"""`reply(messages, tools)`, which may return an awaitable."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(_Strict):
    """A tool call in a reply."""

    name: str
    """Tool to call; need not exist."""

    args: dict[str, Any] | str = Field(default_factory=dict)
    """Arguments; a text is sent as it is, so that it may be broken JSON."""

    id: str | None = None
    """Id of the call; None for one made from the script's name and the reply's place."""


class ScriptedUsage(_Strict):
    """What the provider is to have counted."""

    input_tokens: NonNegativeInt = 0
    """Tokens sent, cached ones included."""

    output_tokens: NonNegativeInt = 0
    """Tokens received."""

    cached_tokens: NonNegativeInt = 0
    """Tokens sent that came from the prompt cache."""


class ScriptedError(_Strict):
    """A failure of the provider in place of a reply; the reply after it answers the next try."""

    status: int | None = None
    """HTTP status; None for a connection that broke."""

    message: str = "scripted error"
    """The provider's words."""

    times: PositiveInt = 1
    """Failures in one process before the script goes on."""


class ScriptedReply(_Strict):
    """One reply; a bare text stands for its `content`."""

    content: str | list[str | dict[str, Any]] = ""
    """Text, or content blocks."""

    tool_calls: list[ScriptedCall] = Field(default_factory=list)
    """Tool calls, in order."""

    usage: ScriptedUsage | None = None
    """Usage; None for our own estimate."""

    delay: NonNegativeFloat = 0.0
    """Seconds before the reply."""

    error: ScriptedError | None = None
    """A failure instead of a reply."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"content": value} if isinstance(value, str) else value

    def message(self, call_prefix: str) -> AIMessage:
        """The message that the reply stands for; calls without an id get `<call_prefix>_<number>`."""
        valid, invalid = [], []
        for number, call in enumerate(self.tool_calls):
            identifier = call.id or f"{call_prefix}_{number}"
            args = call.args if isinstance(call.args, dict) else _parsed(call.args)
            if args is not None:
                valid.append(tool_call(name=call.name, args=args, id=identifier))
            else:
                invalid.append(invalid_tool_call(name=call.name, args=str(call.args), id=identifier, error=None))
        usage = _usage_metadata(self.usage) if self.usage else None
        return AIMessage(content=self.content, tool_calls=valid, invalid_tool_calls=invalid, usage_metadata=usage)


class Script(_Strict):
    """Replies in order, for the requests that it fits."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = Field("script", pattern=r"^[A-Za-z0-9_-]{1,24}$")
    """Marks the script's replies, so that its place is found in a later request."""

    match: re.Pattern[str] | None = None
    """Found in the system or human messages of a request that it fits; None fits every request."""

    replies: list[Annotated[ScriptedReply | AIMessage, Field(union_mode="left_to_right")]]
    """What it says, in order."""

    def fits(self, text: str) -> bool:
        """Whether it answers a request whose system and human messages have this text; `^` and `$` are line ends."""
        return self.match is None or re.search(self.match.pattern, text, self.match.flags | re.MULTILINE) is not None

    def place_after(self, messages: Sequence[BaseMessage]) -> int:
        """Place of the reply that comes after the newest one in `messages` that this script gave."""
        for message in reversed(messages):
            marker = message.response_metadata.get(MARKER)
            if isinstance(marker, dict) and marker.get("name") == self.name:
                return int(marker["place"]) + 1
        return 0

    def message_at(self, place: int) -> AIMessage:
        """The reply at a place, marked with it."""
        reply = self.replies[place]
        message = reply.message(f"call_{self.name}_{place}") if isinstance(reply, ScriptedReply) else reply
        marker = {MARKER: {"name": self.name, "place": place}}
        return message.model_copy(update={"response_metadata": {**message.response_metadata, **marker}})


def _parsed(raw: str) -> dict[str, Any] | None:
    try:
        args = json.loads(raw)
    except ValueError:
        return None
    return args if isinstance(args, dict) else None


def _usage_metadata(usage: ScriptedUsage) -> UsageMetadata:
    return UsageMetadata(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_token_details=InputTokenDetails(cache_read=usage.cached_tokens),
    )
