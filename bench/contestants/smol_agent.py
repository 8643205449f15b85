"""smolagents' tool-calling agent, without persistence and without its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from smolagents import LogLevel, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from workload import ANSWER, SYSTEM, TASK, TOOL, TOOL_DESCRIPTION, Job, argument, look, main, text


class Scripted(Model):
    def __init__(self, steps: int) -> None:
        super().__init__(model_id="bench")
        self._steps = steps
        self._count = count(1)

    def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
        step = next(self._count)
        if step > self._steps:
            return _reply(ANSWER, ChatMessageToolCallFunction({"answer": ANSWER}, "final_answer"), step)
        return _reply(text(step), ChatMessageToolCallFunction({"path": argument(step)}, TOOL), step)


def _reply(words: str, function: ChatMessageToolCallFunction, step: int) -> ChatMessage:
    call = ChatMessageToolCall(function, f"call_{step}", "function")
    return ChatMessage(MessageRole.ASSISTANT, words, [call])


class Look(Tool):
    name = TOOL
    description = TOOL_DESCRIPTION
    inputs = {"path": {"type": "string", "description": "The file."}}  # noqa: RUF012  smolagents reads the class
    output_type = "string"

    def forward(self, path: str) -> str:
        return look(path)


@contextmanager
def run(job: Job) -> Iterator[Callable[[], Any]]:
    agent = ToolCallingAgent(
        [Look()], Scripted(job.steps), instructions=SYSTEM, max_steps=job.steps + 1, verbosity_level=LogLevel.OFF
    )

    def perform() -> Any:
        agent.run(TASK)
        return agent.write_memory_to_messages()

    yield perform


main(run)
