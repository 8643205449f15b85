"""What a person decides about tool calls, read from the answer to a question of kind `confirm`.

An answer is one decision for every call that is asked about, or `{"calls": {ID: decision, …}}`. A decision is one of

- `"approve"` or `true`;
- `"approve_kind"`: approved, and for the rest of the run so is every call of that kind;
- `"reject"`, `false` or `{"reject": reason}`;
- `{"edit": {argument: value, …}}`: all arguments of the call, instead of the model's.

Calls that an answer leaves out are asked about again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from langchain_core.tools import BaseTool

from ..state.confirmation import PendingCall
from .arguments import problem_of_arguments

APPROVE: Final = "approve"
APPROVE_KIND: Final = "approve_kind"
EDIT: Final = "edit"
REJECT: Final = "reject"
CALLS: Final = "calls"

OPTIONS = [APPROVE, APPROVE_KIND, EDIT, REJECT]
"""What a person may do with a call."""

NO_REASON = "none was given"

HOW = f'{APPROVE}, {APPROVE_KIND}, {REJECT}, {{"{REJECT}": reason}} or {{"{EDIT}": {{argument: value}}}}'


class UnclearAnswer(ValueError):
    """An answer that decides nothing; the message says what would."""


@dataclass(frozen=True)
class Decision:
    """What is to become of one call."""

    verdict: Literal["approve", "edit", "reject"]
    """Whether it runs, with other arguments or not at all."""

    kind: str = ""
    """The kind of call that is approved for the rest of the run; empty for none."""

    args: Mapping[str, Any] | None = None
    """The arguments of an edited call."""

    reason: str = ""
    """Why it is rejected."""


def read_answer(answer: Any, asked: Sequence[PendingCall], tools: Mapping[str, BaseTool]) -> dict[str, Decision]:
    """The decisions of an answer, by the ids of the calls.

    Raises:
        UnclearAnswer: it has no documented form, names a call that is not asked about, or an edit does not fit.
    """
    if isinstance(answer, Mapping) and CALLS in answer:
        decisions = _each(answer[CALLS], asked, tools)
    elif isinstance(answer, Mapping) and EDIT in answer and len(asked) > 1:
        raise UnclearAnswer(f'Say which call is edited: {{"{CALLS}": {{ID: {{"{EDIT}": …}}}}}}.')
    else:
        decisions = {call["id"]: _decision(answer, call, tools) for call in asked}
    kinds = {decision.kind for decision in decisions.values() if decision.kind}
    same = {call["id"]: Decision(APPROVE) for call in asked if call["kind"] in kinds}
    return {**same, **decisions}


def _each(answers: Any, asked: Sequence[PendingCall], tools: Mapping[str, BaseTool]) -> dict[str, Decision]:
    calls = {call["id"]: call for call in asked}
    if not isinstance(answers, Mapping) or not answers:
        raise UnclearAnswer(f'Answer {{"{CALLS}": {{ID: {HOW}}}}}.')
    if unknown := [str(name) for name in answers if name not in calls]:
        raise UnclearAnswer(f"No call {', '.join(unknown)} is asked about; there are: {', '.join(calls)}.")
    return {name: _decision(answer, calls[name], tools) for name, answer in answers.items()}


def _decision(answer: Any, call: PendingCall, tools: Mapping[str, BaseTool]) -> Decision:
    word, value = _said(answer)
    if word == APPROVE:
        return Decision(APPROVE)
    if word == APPROVE_KIND:
        return Decision(APPROVE, kind=call["kind"])
    if word == REJECT:
        return Decision(REJECT, reason=value.strip() if isinstance(value, str) and value.strip() else NO_REASON)
    if word == EDIT and isinstance(value, Mapping):
        if problem := problem_of_arguments(tools[call["name"]], value):
            raise UnclearAnswer(f"The edit of {call['name']} does not fit: {problem}.")
        return Decision(EDIT, args=dict(value))
    raise UnclearAnswer(f"Answer {HOW}.")


def _said(answer: Any) -> tuple[str, Any]:
    """The word of a decision, and what goes with it."""
    if isinstance(answer, bool):
        return (APPROVE if answer else REJECT), None
    if isinstance(answer, str):
        return answer.strip(), None
    if isinstance(answer, Mapping) and len(answer) == 1:
        [(word, value)] = answer.items()
        return ("" if value is False else str(word)), value
    return "", None
