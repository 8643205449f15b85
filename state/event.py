"""What actions and observations have in common: a place in the history, a sender, and their forms as data."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import UsageError

Source = Literal["agent", "user", "environment"]
"""Who an event comes from; `environment` is everything but the agent and the person."""

MEMORY_CHARACTERS = 10_000
"""Characters of a text that `to_memory` keeps."""

NOWHERE = -1
"""Place of an event that stands in no history yet (seed ``agent-hub.md``: start and end IDs)."""


class HistoryEvent(BaseModel):
    """One event of a history. It is never changed, and takes no field that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    id: int = NOWHERE
    """Place in the history, from 0."""

    source: Source = "agent"
    """Who it comes from."""

    call_id: str = ""
    """Id of the tool call that it is, or answers; empty for an event without one."""


EventT = TypeVar("EventT", bound=HistoryEvent)


def read_as(kinds: Mapping[str, type[EventT]], tag: str, head: frozenset[str], rest: str, data: Any) -> EventT:
    """An event from its `to_dict()` form.

    Args:
        kinds: the classes by the value of their tag.
        tag: key that says the kind, `action` or `observation`.
        head: fields that stand at the top of the form.
        rest: key of the object that holds the other fields.
        data: what should be such a form.

    Raises:
        UsageError: it is none: its kind is unknown, or a field is unknown, missing or of a wrong type.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get(tag), str):
        raise UsageError(f"no {tag}: give an object with the key `{tag}`, one of {', '.join(kinds)}")
    name = data[tag]
    if name not in kinds:
        near = get_close_matches(name, list(kinds), n=1)
        advice = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(kinds)}"
        raise UsageError(f"no {tag} {name!r}; {advice}")
    own = data.get(rest, {})
    if unknown := [str(key) for key in data if key not in head | {tag, rest, "message"}]:
        raise UsageError(f"{tag} {name!r} has no key {unknown[0]!r}: what is its own stands in `{rest}`")
    if not isinstance(own, Mapping):
        raise UsageError(f"{tag} {name!r}: `{rest}` is no object")
    if misplaced := sorted((head | {tag}) & own.keys()):
        raise UsageError(f"{tag} {name!r}: `{rest}` may not have {misplaced[0]!r}, which stands beside it")
    try:
        return kinds[name].model_validate({**{key: data[key] for key in head if key in data}, **own})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or rest
        raise UsageError(f"{tag} {name!r} is malformed, {where}: {problem['msg']}") from error


def shortened_text(text: str, most: int = MEMORY_CHARACTERS) -> str:
    """The head and the tail of a long text, about `most` characters, with how many are missing between them."""
    if len(text) <= most:
        return text
    tail = most // 2
    return f"{text[: most - tail]}[… {len(text) - most} characters left out …]{text[len(text) - tail :]}"
