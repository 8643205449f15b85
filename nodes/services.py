"""What a run lends its tools: the model, counted as the run's own, and the blobs of its saver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from ..state.context import RunContext, run_context
from ..state.outcome import Usage
from ..tools.run_services import SAVED, Ask, RunServices
from .equipment import Equipment
from .once import run_saver

USAGE = "usage"
"""Key of a tool result's `additional_kwargs` with a dump of the `Usage` of the models that the tool asked."""

QUIET = "nostream"
"""Tag that keeps the tokens of an answer out of the run's own stream of messages."""


class CountedModel:
    """The run's model for one call of a tool, and what that call used of it."""

    def __init__(self, equipment: Equipment, config: RunnableConfig, runtime: Runtime[RunContext]) -> None:
        self.usage = Usage()
        self._models = equipment.models
        self._config: RunnableConfig = {**config, "tags": [*(config.get("tags") or []), QUIET]}
        self._context = run_context(runtime)

    async def ask(self, messages: Sequence[BaseMessage]) -> str:
        """The text of the model's answer.

        Raises:
            ModelError: the provider refused, or did not answer within the allowed tries.
        """
        model = await self._models.chat_model(self._context)
        reply, usage = await self._models.ask(model, messages, self._context, self._config)
        self.usage += usage
        return str(reply.text)

    def noted(self, result: ToolMessage) -> ToolMessage:
        """The tool's result with what it used, where it used anything."""
        if not self.usage.llm_calls:
            return result
        noted = {**result.additional_kwargs, USAGE: self.usage.model_dump()}
        return result.model_copy(update={"additional_kwargs": noted})


def call_services(
    config: RunnableConfig, *, saved: Mapping[str, Any] | None = None, ask: Ask | None = None
) -> RunServices:
    """The services of one call; payloads have no place where the run's saver is none of ours."""
    saver, thread = run_saver(config), config.get("configurable", {}).get("thread_id")
    if saver is None or thread is None:
        return RunServices(ask=ask)
    return RunServices(ask=ask, put=partial(saver.blobs.put, str(thread)), get=saver.blobs.get, saved=saved)


def newest_saved(history: Sequence[AnyMessage], tool: str) -> dict[str, Any] | None:
    """What the newest result of a tool says that its session can be opened from again."""
    results = (message for message in reversed(history) if isinstance(message, ToolMessage) and message.name == tool)
    artifacts = (message.artifact for message in results if isinstance(message.artifact, dict))
    return next((dict(artifact[SAVED]) for artifact in artifacts if artifact.get(SAVED)), None)


def used_by_tools(messages: Sequence[AnyMessage]) -> Iterator[Usage]:
    """What tools used of models for the results among the messages."""
    for message in messages:
        if isinstance(message, ToolMessage) and USAGE in message.additional_kwargs:
            yield Usage.model_validate(message.additional_kwargs[USAGE])
