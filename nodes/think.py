"""think: one model call, and its reply brought into a form that every provider takes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send

from ..models.call import call_model
from ..models.profile import max_input_tokens, model_name, sees_images
from ..models.tokens import calibrate, estimate_tokens
from ..models.usage import usage_of
from ..models.vision import images_after_tools, without_images
from ..prompts.load import load_prompt
from ..state.agent import AgentState, Ending, Progress
from ..state.condensation import condensation_of
from ..state.context import RunContext, run_context
from ..state.errors import ContextOverflow, ModelError
from ..state.messages import Fresh
from ..state.metrics import no_counts, with_results
from ..state.outcome import Usage
from ..state.planning import AnyAgentState
from .clock import clocked
from .dispatch import next_calls
from .ending import stopped_ending
from .equipment import Equipment
from .model_source import tell_of_wait
from .node import node, route
from .orders import at_the_end
from .payloads import with_data
from .policy import may_ask
from .progress import current_progress
from .reply import is_empty, stored_reply
from .stopping import Stopped, stoppable
from .toolbox import Toolbox
from .view import View, note, sent_view, shortened

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel

FILLED = 0.9
"""Part of the token bound that is used: the estimate is that far off where messages are unlike those before them."""

OVERFLOW_TOOL_RESULT = 2000
"""Characters of each tool result in the one request that follows a context overflow."""


def think_node(equipment: Equipment) -> RunnableCallable:
    """The node that asks the model for the next step."""

    async def think(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        progress, history = current_progress(state, run_context(runtime)), state["messages"]
        model = await equipment.models.chat_model(run_context(runtime))
        tools = await equipment.toolbox_for(config, history[progress["task"]], runtime)
        request = Request(equipment, tools, model, progress, state, runtime)
        try:
            async with stoppable(config, progress["inbox"]):
                reply, view = await request.send(config)
        except ModelError as error:
            ending = Ending(status="error", success=False, reason=str(error), answer="")
            ended = {**progress, "counts": request.counts, "ending": ending}
            return {"progress": ended, "status": "running", "outcome": None}
        except Stopped as stop:
            obeyed = {**clocked(progress, config), "inbox": {**progress["inbox"], "orders": stop.number}}
            ended = {**progress, **obeyed, "ending": stopped_ending()}
            return {"progress": ended, "status": "running", "outcome": None}
        messages = Fresh([stored_reply(reply, equipment.known_ids.of(history))])
        if problem := _objection(equipment, tools, reply):
            messages.append(note(problem))
        usage = Usage.model_validate(progress["usage"]) + usage_of(reply, model_name(model), equipment.settings.prices)
        counters = {"steps": progress["steps"] + 1, "iteration": progress["iteration"] + 1, "cut": view.cut}
        counted = {**counters, "usage": usage.model_dump(), "calibration": request.calibration}
        counted |= {"counts": request.counts, "delegated": len(history)}
        update = {"messages": messages, "progress": {**progress, **counted, **clocked(progress, config)}}
        return update if state.get("status") == "running" else {**update, "status": "running", "outcome": None}

    return node(think)


def route_think(equipment: Equipment) -> RunnableCallable:
    """`assess` where a call may need a person, else `act`; `check_stuck` after an objection, else `terminate`."""

    async def after_think(
        state: AnyAgentState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> str | list[Send]:
        progress, history = state["progress"], state["messages"]
        if progress["ending"]:
            return "terminate"
        if isinstance(history[-1], HumanMessage):
            return "check_stuck"
        if await may_ask(history, equipment, runtime):
            return "assess"
        return next_calls(state, equipment, config, runtime) or await at_the_end(progress, config, runtime)

    return route(after_think)


def _objection(equipment: Equipment, tools: Toolbox, reply: AIMessage) -> str:
    if reply.tool_calls or reply.invalid_tool_calls:
        return ""
    if equipment.spec.tool_choice == "required":
        return load_prompt("tool_required", tools=", ".join(tools.tools))
    return load_prompt("empty_reply") if is_empty(reply) else ""


class Request:
    """One request to the model: what is sent of the history, between the system prompt and the next-step prompt."""

    def __init__(
        self,
        equipment: Equipment,
        tools: Toolbox,
        model: BaseChatModel,
        progress: Progress,
        state: AgentState,
        runtime: Runtime[RunContext],
    ) -> None:
        context = run_context(runtime)
        workspace = equipment.workspace_of(runtime)
        self.calibration = progress["calibration"]
        self.counts = with_results(progress.get("counts") or no_counts(), state["messages"])
        self._equipment, self._tools, self._model = equipment, tools, model
        self._progress, self._history, self._condensed = progress, state["messages"], condensation_of(state)
        self._write = runtime.stream_writer
        self._max_retries = equipment.models.max_retries(context)
        bound = max_input_tokens(model) or equipment.settings.max_input_tokens
        self._max_tokens = int(bound * FILLED) if bound else None
        system = equipment.system_prompt(workspace)
        closing = "\n\n".join(part for part in (progress["nudge"], equipment.next_step_prompt(workspace)) if part)
        self._before = [SystemMessage(system)] if system else []
        self._after = [*(state.get("context") or []), *([HumanMessage(closing)] if closing else [])]

    async def send(self, config: RunnableConfig) -> tuple[AIMessage, View]:
        """The reply, and the view of the history that brought it.

        On a context overflow the view is cut much harder, once.

        Raises:
            ModelError: the provider refused, or did not answer within the allowed tries.
        """
        view = self._view(self._max_tokens)
        try:
            return await self._call(view.messages, config), view
        except ContextOverflow:
            view = self._view(max(1, self._count(view.messages) // 4))
            return await self._call(shortened(view.messages, OVERFLOW_TOOL_RESULT), config), view

    def _view(self, max_tokens: int | None) -> View:
        spec, overhead = self._equipment.spec, 0
        if max_tokens:
            tools = round(self._tools.tokens * self.calibration)
            overhead = tools + self._count([*self._before, *self._after])
        return sent_view(
            self._history,
            task=self._progress["task"],
            cut=self._progress["cut"],
            max_messages=spec.max_messages,
            max_tokens=max(1, max_tokens - overhead) if max_tokens else None,
            count_tokens=self._count,
            condensed=self._condensed,
        )

    async def _call(self, messages: Sequence[AnyMessage], config: RunnableConfig) -> AIMessage:
        request: list[BaseMessage] = [*self._before, *messages, *self._after]
        if not sees_images(self._model):
            request = without_images(request)
        request = images_after_tools(await with_data(request, config))
        reply = await call_model(
            self._tools.bound(self._model),
            request,
            max_retries=self._max_retries,
            config=config,
            on_retry=self._tell_of_retry,
            on_wait=tell_of_wait,
        )
        self._calibrate(request, reply)
        return reply

    def _tell_of_retry(self, failure: str, seconds: float) -> None:
        self._write({"kind": "retry", "message": failure, "seconds": seconds})

    def _count(self, messages: Sequence[AnyMessage]) -> int:
        return round(estimate_tokens(messages) * self.calibration)

    def _calibrate(self, request: Sequence[BaseMessage], reply: AIMessage) -> None:
        counted = reply.usage_metadata["input_tokens"] if reply.usage_metadata else 0
        if self._max_tokens and counted:
            self.calibration = calibrate(counted, estimate_tokens(request) + self._tools.tokens)
