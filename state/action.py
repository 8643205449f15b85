"""What every action has: its forms as data, and the tool call that does it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from typing_extensions import Self

from .event import MEMORY_CHARACTERS, HistoryEvent, shortened_text

HEAD = frozenset({"id", "source", "call_id", "reply_id"})
"""Fields that stand at the top of an action's data; the others are its `args`."""

NONE: Mapping[str, Any] = MappingProxyType({})
"""No arguments."""


class Action(HistoryEvent):
    """Any action. An action that a tool does is one call of it, and keeps exactly the arguments that were given."""

    tools: ClassVar[tuple[str, ...]] = ()
    """Tools whose calls may be this action, the usual one first."""

    fixed: ClassVar[Mapping[str, Any]] = NONE
    """Arguments that every such call has."""

    absent: ClassVar[Mapping[str, Any]] = NONE
    """What the tool takes for arguments that a call leaves out, where this action has another default."""

    renamed: ClassVar[Mapping[str, str]] = NONE
    """Names of arguments that are called otherwise here, by field."""

    said: ClassVar[str] = ""
    """The action in words for a person, with its fields in braces."""

    action: str
    """Which action it is."""

    reply_id: str = ""
    """Id of the message that it is from; actions of one message were asked for together."""

    thought: str = ""
    """What the agent said beside it."""

    @property
    def tool(self) -> str:
        """Name of the tool that does it; empty for an action that is no call."""
        return self.tools[0] if self.tools else ""

    @property
    def message(self) -> str:
        """What is done, in words for a person."""
        return self.said.format_map(vars(self))

    @classmethod
    def from_call(cls, tool: str, arguments: Mapping[str, Any], **head: Any) -> Self:
        """The action of a call with these arguments.

        Raises:
            ValueError: the call is no such action.
        """
        if any(arguments.get(name) != value for name, value in cls.fixed.items()):
            raise ValueError(f"no {cls.__name__}")
        fields = {argument: field for field, argument in cls.renamed.items()}
        given = {key: value for key, value in {**cls.absent, **arguments}.items() if key not in cls.fixed}
        return cls.model_validate({**{fields.get(key, key): value for key, value in given.items()}, **head})

    def call_arguments(self) -> dict[str, Any]:
        """The arguments of the call that does it: those that were given, no defaults."""
        given = self.model_dump(exclude={*HEAD, "action", "thought"}, exclude_unset=True)
        given |= {name: getattr(self, name) for name in self.absent}
        return {**self.fixed, **{self.renamed.get(key, key): value for key, value in given.items()}}

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, with a text for people under `message`; `action_from_dict` reads it."""
        given = self.model_dump(exclude_unset=True)
        head = {"id": self.id, "source": self.source, "message": self.message, "action": self.action}
        ids: dict[str, Any] = {key: value for key, value in given.items() if key in ("call_id", "reply_id")}
        return {**head, **ids, "args": {key: given[key] for key in given if key not in HEAD and key != "action"}}

    def to_memory(self, max_characters: int = MEMORY_CHARACTERS) -> dict[str, Any]:
        """What a model is told of it: the action and its arguments, long texts cut."""
        own = {key: value for key, value in self.to_dict()["args"].items() if key != "images"}
        return {"action": self.action, "args": {key: _cut(value, max_characters) for key, value in own.items()}}


def _cut(value: Any, most: int) -> Any:
    return shortened_text(value, most) if isinstance(value, str) else value
