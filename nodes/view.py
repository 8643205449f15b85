"""The view of the history that a request carries: valid under the OpenAI rules, bounded, and steady in its prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from ..prompts.load import load_prompt
from ..state.condensation import Condensation, no_condensation
from .condensed import masked, summary_message

CountTokens = Callable[[Sequence[AnyMessage]], int]


class View(NamedTuple):
    """What is sent of a history."""

    messages: list[AnyMessage]
    """The pinned task where it was cut off, then every message from `cut` on."""

    cut: int
    """Place in the history where the sent part begins."""


class Group(NamedTuple):
    """Messages that are sent together or not at all: a reply with the results of its calls, or one message."""

    place: int
    messages: list[AnyMessage]


def sent_view(
    history: Sequence[AnyMessage],
    *,
    task: int,
    cut: int,
    max_messages: int,
    max_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
    condensed: Condensation | None = None,
) -> View:
    """The messages to send, at most `max_messages` and `max_tokens` of them, and where they begin.

    `cut` is the place where the last request's view began. It stays there until a bound is passed, and then
    jumps so far that half of the bound is free again: between two jumps every request begins like the one before.
    The message at `task` is always sent, and so is the newest group, however long it is. What condensers have settled
    goes before: their cut is the earliest, their summary is sent behind the task, and what they masked is.
    """
    condensed = condensed or no_condensation()
    summary, cut = summary_message(condensed), max(cut, condensed["cut"])
    found = message_groups(history, cut)
    groups = [Group(group.place, masked(group.messages, group.place, condensed)) for group in found]
    sizes = [len(group.messages) for group in groups]
    costs = [count_tokens(group.messages) for group in groups] if count_tokens and max_tokens else [0] * len(groups)
    pinned = [history[task]] if task < len(history) else []
    pinned_cost = count_tokens([*pinned, *summary]) if count_tokens and max_tokens else 0
    max_cost = (max_tokens or 0) - pinned_cost
    if sum(sizes) + len(summary) > max_messages - 1 or sum(costs) > max_cost:
        kept = _newest(sizes, costs, max_messages // 2, max_cost // 2)
        groups = groups[len(groups) - kept :]
    begin = groups[0].place if groups else cut
    sent = [message for group in groups for message in group.messages]
    return View([*(pinned if task < begin else []), *summary, *sent], begin)


def message_groups(history: Sequence[AnyMessage], start: int = 0) -> Iterator[Group]:
    """The groups of the history from `start` on, each with an answer to every call.

    Results that answer no call and replies without any content are left out: providers refuse them.
    """
    place = start
    while place < len(history):
        message, end = history[place], place + 1
        if isinstance(message, AIMessage) and message.tool_calls:
            while end < len(history) and isinstance(history[end], ToolMessage):
                end += 1
            yield Group(place, _answered(message, history[place + 1 : end]))
        elif not isinstance(message, ToolMessage) and not _is_empty_reply(message):
            yield Group(place, [message])
        place = end


def shortened(messages: Sequence[AnyMessage], limit: int) -> list[AnyMessage]:
    """The messages with every tool result cut to `limit` characters: the last resort against an overflow."""
    return [
        message.model_copy(update={"content": cut_middle(message.text, limit)})
        if isinstance(message, ToolMessage) and len(message.text) > limit
        else message
        for message in messages
    ]


def cut_middle(text: str, limit: int, kept_in: str = "") -> str:
    """The head and the tail of `text`, `limit` characters in all; between them, how much is missing and where it is."""
    if len(text) <= limit:
        return text
    where = f"; the whole is in {kept_in}" if kept_in else ""
    head = limit - limit // 2
    return f"{text[:head]}\n[… {len(text) - limit} characters left out{where} …]\n{text[len(text) - limit // 2 :]}"


def is_task(message: AnyMessage) -> bool:
    """Whether a person set a task with the message; notes of ours and words said during a task are human ones too."""
    return isinstance(message, HumanMessage) and not (message.additional_kwargs.keys() & {"note", "said"})


def note(text: str) -> HumanMessage:
    """A message of ours to the model, stored in the history."""
    return HumanMessage(text, id=str(uuid4()), additional_kwargs={"note": True})


def said(text: str, identifier: str) -> HumanMessage:
    """What a person said while the agent worked."""
    return HumanMessage(text, id=identifier, additional_kwargs={"said": True})


def _newest(sizes: Sequence[int], costs: Sequence[int], max_size: int, max_cost: int) -> int:
    kept = size = cost = 0
    for group_size, group_cost in zip(reversed(sizes), reversed(costs), strict=True):
        size, cost = size + group_size, cost + group_cost
        if kept and (size > max_size or cost > max_cost):
            break
        kept += 1
    return kept


def _answered(reply: AIMessage, results: Sequence[AnyMessage]) -> list[AnyMessage]:
    if [getattr(result, "tool_call_id", None) for result in results] == [call["id"] for call in reply.tool_calls]:
        return [reply, *results]
    by_call = {result.tool_call_id: result for result in results if isinstance(result, ToolMessage)}
    return [reply, *(by_call.get(call["id"] or "") or _no_result(call["id"] or "") for call in reply.tool_calls)]


def _no_result(call_id: str) -> ToolMessage:
    return ToolMessage(load_prompt("unanswered_call"), tool_call_id=call_id, status="error")


def _is_empty_reply(message: AnyMessage) -> bool:
    return isinstance(message, AIMessage) and not message.content
