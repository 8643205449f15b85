"""What a person asks of a run from outside: read from the control inbox, obeyed in the agents' gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from ..checkpoints.inbox import Inbox, Order
from ..state.agent import Progress
from ..state.context import RunContext, run_context
from ..state.inbox import InboxPlace, inbox_start
from ..state.question import Question
from .once import run_saver
from .view import said

GO_ON, STOP = "resume", "stop"


async def new_orders(config: RunnableConfig, place: InboxPlace) -> list[Order]:
    """The rows of the inbox that were not acted on yet; none on a saver that is not ours."""
    saver, thread = run_saver(config), config.get("configurable", {}).get("thread_id")
    if saver is None or thread is None:
        return []
    rows = await Inbox(saver).read(str(thread), min(place["words"], place["orders"]))
    return [row for row in rows if row.number > place["words" if row.kind == "say" else "orders"]]


def asks(orders: Sequence[Order], *kinds: str) -> bool:
    """Whether there is a row of one of these kinds."""
    return any(order.kind in kinds for order in orders)


def place_after(orders: Sequence[Order], place: InboxPlace) -> InboxPlace:
    """The place of a run that has acted on all of these."""
    return InboxPlace(
        words=max([place["words"], *(order.number for order in orders if order.kind == "say")]),
        orders=max([place["orders"], *(order.number for order in orders if order.kind != "say")]),
    )


def obeyed(orders: Sequence[Order], place: InboxPlace) -> InboxPlace:
    """The place after the orders; what is said is left to the agents that the graph runs."""
    return {**place_after(orders, place), "words": place["words"]}


def orders_of(state: Mapping[str, Any]) -> int:
    """The newest order that a child which has ended obeyed, by its final state: its parent need not obey it again."""
    progress = state.get("progress") or {}
    return int(progress.get("inbox", inbox_start())["orders"])


def words_of(orders: Sequence[Order]) -> list[HumanMessage]:
    """What was said, as messages to the agent. Their ids are those of the rows: none is in a history twice."""
    return [said(order.text, f"say-{order.number}") for order in orders if order.kind == "say"]


async def at_the_end(progress: Progress, config: RunnableConfig, runtime: Runtime[RunContext]) -> str:
    """Where a task goes whose agent is done: `terminate`, or `gate` where a person said something that is unread.

    A child is not kept from its end: whoever gave it the task reads it.
    """
    context = run_context(runtime)
    is_child = context.lease is not None or context.level > 0
    unread = not is_child and asks(await new_orders(config, progress["inbox"]), "say")
    return "gate" if unread else "terminate"


def pause_question(path: Sequence[str]) -> Question:
    """The question that a paused run waits with."""
    return Question(
        kind="paused",
        question="Paused. Shall it go on? Other words go to the agent before it does.",
        options=[GO_ON, STOP],
        data={},
        path=list(path),
    )


def is_pause_answer(answer: Any) -> bool:
    """Whether a resume value is for a pause: one that came for a limit, which is met no more, is not."""
    by_name = isinstance(answer, Mapping) and any(str(key).startswith("max_") for key in answer)
    return not by_name and (isinstance(answer, bool) or not isinstance(answer, int | float))
