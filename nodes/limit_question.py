"""The question that a run asks at a limit, and the answers that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..state.limits import LimitKind
from ..state.question import Question

STOP = "stop"

_USED = {
    "steps": "has taken {used} of {limit} steps. How many may it take in all?",
    "calls": "has made {used} of {limit} model calls. How many may it make in all?",
    "tokens": "has used {used} of {limit} tokens. How many may it use in all?",
    "cost": "has cost {used:.4f} of {limit:g}. How much may it cost in all?",
    "seconds": "has worked for {used:.0f} of {limit:g} seconds. How many may it work in all?",
}


def limit_question(kind: LimitKind, used: float, limit: float, path: Sequence[str]) -> Question:
    """Ask how much of a kind may be used in all.

    Args:
        kind: What is used up.
        used: How much was used.
        limit: How much might be.
        path: Names of the agents from the outermost to the one that asks.
    """
    return Question(
        kind="limit",
        question=f"{path[-1]} {_USED[kind].format(used=used, limit=limit)}",
        options=[f"{max(limit, used) + limit:.12g}", STOP],
        data={kind: used, f"max_{kind}": limit},
        path=list(path),
    )


def raised_limits(answer: Any, kind: LimitKind) -> dict[str, float]:
    """The limits that an answer sets, by kind: a number, its text or `{"max_steps": 40, …}`; else none."""
    if isinstance(answer, Mapping):
        given = {str(key).removeprefix("max_"): value for key, value in answer.items() if str(key).startswith("max_")}
        return {key: number for key, value in given.items() if (number := _number(value)) is not None}
    number = _number(answer)
    return {} if number is None else {kind: number}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if not 0 < number < float("inf"):
        return None
    return int(number) if number.is_integer() else number
