"""condense: make the history fit before it is sent, by the condensers of the agent, one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.constants import TAG_NOSTREAM
from langgraph.runtime import Runtime

from ..models.profile import max_input_tokens
from ..models.tokens import estimate_tokens
from ..models.vision import is_image
from ..prompts.load import load_prompt
from ..state.agent import AgentState, Ending
from ..state.condensation import (
    Condensation,
    MaskImages,
    MaskResults,
    Recent,
    Summarize,
    condensation_of,
)
from ..state.context import RunContext, run_context
from ..state.errors import ModelError
from ..state.outcome import Usage
from .condensed import masked, summary_message
from .equipment import Equipment
from .model_source import ModelSource
from .node import node
from .progress import current_progress
from .view import Group, message_groups

EVENT_CHARACTERS = 2_000
"""Characters of each text of an event that the model which writes a summary is shown."""

FILLED = 0.6
"""Part of the model's bound on a request that messages may fill before the older ones are summarized."""

NO_SUMMARY = "(there is none)"


def condense_node(equipment: Equipment) -> RunnableCallable:
    """The node that settles what the next requests carry of the history."""

    async def condense(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        history, context = state["messages"], run_context(runtime)
        before = condensed = condensation_of(state)
        used = Usage()
        try:
            for condenser in equipment.condensers:
                match condenser:
                    case Recent():
                        condensed = _cut(history, condensed, condenser.max_messages)
                    case MaskResults():
                        condensed = _mask(history, condensed, "results", condenser.keep, _is_result)
                    case MaskImages():
                        condensed = _mask(history, condensed, "images", condenser.keep, _has_image)
                    case Summarize():
                        task = history[current_progress(state, context)["task"]]
                        summary = Summary(equipment, condenser, task, context, config)
                        condensed, own = await summary.renew(history, condensed)
                        used += own
        except ModelError as error:
            ending = Ending(status="error", success=False, reason=str(error), answer="")
            ended = {**current_progress(state, context), "ending": ending}
            return {"progress": ended, "status": "running", "outcome": None}
        if condensed == before:
            return {}
        if not used.llm_calls:
            return {"condensed": condensed}
        progress = current_progress(state, context)
        usage = Usage.model_validate(progress["usage"]) + used
        update = {"condensed": condensed, "progress": {**progress, "usage": usage.model_dump()}}
        return {**update, "status": "running", "outcome": None}

    return node(condense)


class Summary:
    """The summary of the older part of a history, and its renewal by a model."""

    def __init__(
        self,
        equipment: Equipment,
        condenser: Summarize,
        task: AnyMessage,
        context: RunContext,
        config: RunnableConfig,
    ) -> None:
        self._equipment, self._condenser, self._task, self._run = equipment, condenser, task, context
        # The bound of the spec cuts without a summary, so this one must be met first.
        self._most = min(condenser.max_messages, max(4, equipment.spec.max_messages - 2))
        own = condenser.model
        # A run that names a model means the agent's.
        self._models = ModelSource(equipment.settings, own) if own else equipment.models
        self._context = replace(context, model=None) if own else context
        self._config: RunnableConfig = {**config, "tags": [*(config.get("tags") or []), TAG_NOSTREAM]}

    async def renew(self, history: Sequence[AnyMessage], condensed: Condensation) -> tuple[Condensation, Usage]:
        """The condensation with the older half in its summary, where a bound is passed, and what that used.

        Raises:
            ModelError: the provider refused, or the summary is not shorter than what it stands for.
        """
        groups = list(message_groups(history, condensed["cut"]))
        kept = _kept(groups, self._most, await self._is_too_large(groups, condensed))
        if not kept or len(kept) == len(groups):
            return condensed, Usage()
        left = groups[: len(groups) - len(kept)]
        text, usage = await self._ask([message for group in left for message in group.messages], condensed)
        return {**condensed, "cut": kept[0].place, "summary": text}, usage

    async def _is_too_large(self, groups: Sequence[Group], condensed: Condensation) -> bool:
        bound = self._condenser.max_tokens or await self._room()
        if not bound:
            return False
        sent = [message for group in groups for message in masked(group.messages, group.place, condensed)]
        return estimate_tokens([*summary_message(condensed), *sent]) > bound

    async def _room(self) -> int:
        model = await self._equipment.models.chat_model(self._run)
        return int((max_input_tokens(model) or self._equipment.settings.max_input_tokens or 0) * FILLED)

    async def _ask(self, left: Sequence[AnyMessage], condensed: Condensation) -> tuple[str, Usage]:
        from ..state.events import history_events  # the models of all events, which few runs need

        events = [json.dumps(event.to_memory(EVENT_CHARACTERS), ensure_ascii=False) for event in history_events(left)]
        request = load_prompt(
            "condense_request",
            task=self._task.text,
            summary=condensed["summary"] or NO_SUMMARY,
            events="\n".join(events),
        )
        model = await self._models.chat_model(self._context)
        messages = [SystemMessage(load_prompt("condense_system")), HumanMessage(request)]
        reply, usage = await self._models.ask(model, messages, self._context, self._config)
        text = reply.text.strip()
        size, before = estimate_tokens([HumanMessage(text)]), estimate_tokens([*summary_message(condensed), *left])
        if not text or size >= before:
            raise ModelError(
                f"the summary of {len(left)} messages has {size} tokens and they have {before}: it must be shorter; "
                "choose another model for it, or a larger max_messages"
            )
        return text, usage


def _cut(history: Sequence[AnyMessage], condensed: Condensation, most: int) -> Condensation:
    groups = list(message_groups(history, condensed["cut"]))
    kept = _kept(groups, most)
    return {**condensed, "cut": kept[0].place} if kept else condensed


def _kept(groups: Sequence[Group], most: int, too_large: bool = False) -> Sequence[Group]:
    """The newest groups, about half of `most` messages, where there are more than that; the last one always."""
    sizes = [len(group.messages) for group in groups]
    if sum(sizes) <= most and not too_large:
        return groups
    room, first = min(most, sum(sizes)) // 2, len(groups)
    while first and (first == len(groups) or sizes[first - 1] <= room):
        first -= 1
        room -= sizes[first]
    return groups[first:]


def _mask(
    history: Sequence[AnyMessage], condensed: Condensation, part: str, keep: int, counts: Callable[[AnyMessage], bool]
) -> Condensation:
    first = max(condensed["cut"], condensed["results"] if part == "results" else condensed["images"])
    places = [place for place in range(first, len(history)) if counts(history[place])]
    if len(places) <= 2 * keep:
        return condensed
    # A group is masked by the place where it begins, so that the results of one reply are masked together.
    place = max(group.place for group in message_groups(history, first) if group.place <= places[-keep])
    return {**condensed, "results": place} if part == "results" else {**condensed, "images": place}


def _is_result(message: AnyMessage) -> bool:
    return isinstance(message, ToolMessage)


def _has_image(message: AnyMessage) -> bool:
    return isinstance(message, ToolMessage) and any(map(is_image, message.content))
