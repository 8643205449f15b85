"""openai-agents, without persistence and without tracing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from workload import ANSWER, SYSTEM, TASK, TOOL, TOOL_DESCRIPTION, Job, argument, finish, look, main, text


class Scripted(Model):
    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._count = count(1)

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        step = next(self._count)
        if step > self._steps:
            return _response(_message(step, ANSWER))
        arguments = json.dumps({"path": argument(step)})
        call = ResponseFunctionToolCall(
            type="function_call", name=TOOL, arguments=arguments, call_id=f"call_{step}", id=f"item_{step}"
        )
        return _response(_message(step, text(step)), call)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("the runs here do not stream")


def _response(*items: Any) -> ModelResponse:
    return ModelResponse(output=list(items), usage=Usage(), response_id=None)


def _message(step: int, words: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=words, annotations=[])
    return ResponseOutputMessage(
        id=f"message_{step}", type="message", role="assistant", status="completed", content=[content]
    )


def _tool() -> FunctionTool:
    async def look_async(path: str) -> str:
        return look(path)

    return function_tool(look_async, name_override=TOOL, description_override=TOOL_DESCRIPTION)


@contextmanager
def run(job: Job) -> Iterator[Callable[[], Any]]:
    set_tracing_disabled(True)
    agent = Agent(name="bench", instructions=SYSTEM, model=Scripted(job.steps), tools=[_tool()])

    async def perform() -> Any:
        return (await Runner.run(agent, TASK, max_turns=job.steps + 1)).to_input_list()

    with asyncio.Runner() as runner:
        yield lambda: finish(runner, perform())


main(run)
