"""pydantic-ai, without persistence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits
from workload import ANSWER, SYSTEM, TASK, TOOL, TOOL_DESCRIPTION, Job, argument, finish, look, main, text


@contextmanager
def run(job: Job) -> Iterator[Callable[[], Any]]:
    steps = count(1)

    async def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = next(steps)
        if step > job.steps:
            return ModelResponse(parts=[TextPart(ANSWER)])
        call = ToolCallPart(TOOL, {"path": argument(step)}, tool_call_id=f"call_{step}")
        return ModelResponse(parts=[TextPart(text(step)), call])

    async def look_async(path: str) -> str:
        return look(path)

    agent = Agent(FunctionModel(say), system_prompt=SYSTEM)
    agent.tool_plain(name=TOOL, description=TOOL_DESCRIPTION)(look_async)

    async def perform() -> Any:
        return (await agent.run(TASK, usage_limits=UsageLimits(request_limit=None))).all_messages()

    with asyncio.Runner() as runner:
        yield lambda: finish(runner, perform())


main(run)
