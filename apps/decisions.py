"""What a person decides with flags, matched to the questions of a thread about calls and plans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..state.errors import UsageError
from ..state.stream import QuestionEvent

DECIDED = frozenset({"confirm", "plan"})
"""Kinds of questions that are answered by approving, editing or rejecting."""

SHORTEST = 4
"""Characters of the beginning of an id that name it."""


@dataclass(frozen=True)
class Flags:
    """The flags as they were given."""

    approve: bool = False
    """`--approve`: all that no other flag names."""

    approve_kind: bool = False
    """`--approve-kind`: the same, and every further call of these kinds."""

    reject: Sequence[str] = ()
    """`--reject [ID=]REASON`."""

    edit: Sequence[str] = ()
    """`--edit [ID=]JSON`."""

    def __bool__(self) -> bool:
        return bool(self.approve or self.approve_kind or self.reject or self.edit)


@dataclass(frozen=True)
class _Item:
    """One thing to decide about: a call, or a plan."""

    question: str
    call: str

    def __str__(self) -> str:
        return self.call or self.question


def decide(flags: Flags, questions: Sequence[QuestionEvent]) -> dict[str, Any]:
    """The resume values by interrupt id.

    An id names a call, or a question with all its calls, and may be cut to a beginning that nothing else shares.

    Raises:
        UsageError: nothing is to be decided, an edit is no JSON object or does not say which call it is for, or
            something is decided twice.
    """
    if not flags:
        return {}
    items = [item for question in questions if question.kind in DECIDED for item in _items(question)]
    if not items:
        raise UsageError("the thread asks about no call and no plan: resume it without --approve, --reject and --edit")
    decided: dict[_Item, Any] = {}
    for text in flags.edit:
        named, rest = _named(text, items)
        arguments = _object(rest)
        _put(decided, [_only(named or items)], {"edit": arguments})
    for text in flags.reject:
        named, rest = _named(text, items)
        _put(decided, named or [item for item in items if item not in decided], {"reject": rest})
    if flags.approve or flags.approve_kind:
        word = "approve_kind" if flags.approve_kind else "approve"
        decided |= {item: word if item.call else "approve" for item in items if item not in decided}
    return _by_question(decided)


def _items(question: QuestionEvent) -> list[_Item]:
    return [_Item(question.id, call["id"]) for call in question.data.get("calls", [])] or [_Item(question.id, "")]


def _named(text: str, items: Sequence[_Item]) -> tuple[list[_Item] | None, str]:
    """What the text before the first `=` names, and the text after it; None and the whole text where it names nothing.

    Raises:
        UsageError: it names several calls.
    """
    identifier, separator, rest = text.partition("=")
    calls = [item for item in items if separator and _is(item.call, identifier)]
    exact = [item for item in calls if item.call == identifier]
    if len(found := exact or calls) > 1:
        listed = ", ".join(f"{item.call} of question {item.question}" for item in found)
        raise UsageError(f"{identifier!r} names {listed}: give the whole id of the call, or that of the question")
    asked = [item for item in items if separator and _is(item.question, identifier)]
    return (found or asked, rest) if found or asked else (None, text)


def _is(name: str, identifier: str) -> bool:
    """Whether the identifier is the name, or enough of its beginning not to be a word of a reason."""
    return bool(name) and (name == identifier or (len(identifier) >= SHORTEST and name.startswith(identifier)))


def _only(items: Sequence[_Item]) -> _Item:
    if len(items) > 1:
        listed = "; ".join(f"--edit '{item}=…'" for item in items)
        raise UsageError(f"{len(items)} calls are asked about, say which one is edited: {listed}")
    return items[0]


def _put(decided: dict[_Item, Any], items: Sequence[_Item], decision: Any) -> None:
    for item in items:
        if item in decided:
            raise UsageError(f"{item} is decided twice: name each call once")
        decided[item] = decision


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--edit takes a JSON object of arguments: {error}") from error
    if not isinstance(value, dict):
        raise UsageError(f"--edit takes a JSON object of arguments, not {text}")
    return value


def _by_question(decided: Mapping[_Item, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for item, decision in decided.items():
        if item.call:
            values.setdefault(item.question, {"calls": {}})["calls"][item.call] = decision
        else:
            values[item.question] = decision
    return values
