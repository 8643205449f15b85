"""Asking a chat model about a page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from ...prompts.load import load_prompt, prompt_template
from ..run_services import Ask

AT_ONCE = 4
"""Pieces of a page that are asked about at the same time."""

QUIET = {"tags": ["nostream"]}
"""Keeps the model's tokens out of the run's own stream of messages."""


def asking(model: BaseChatModel) -> Ask:
    """Asks a model that is not the run's."""

    async def ask(messages: Sequence[BaseMessage]) -> str:
        reply = await model.ainvoke(list(messages), QUIET)  # type: ignore[arg-type]
        return str(reply.text)

    return ask


async def extract(ask: Ask, goal: str, url: str, parts: Sequence[str]) -> str:
    """What the parts of a page say about `goal`; the answers for several parts are put together by one more call."""
    turns = asyncio.Semaphore(AT_ONCE)
    prompts = await asyncio.to_thread(_prompts, goal, url, parts)

    async def read(prompt: str) -> str:
        async with turns:
            return await ask(_request(prompt))

    answers = await asyncio.gather(*map(read, prompts))
    if len(answers) == 1:
        return answers[0]
    found = "\n\n".join(f"From part {place}:\n{answer}" for place, answer in enumerate(answers, 1))
    return await ask(_request(load_prompt("extract_join", goal=goal, url=url, found=found)))


def _prompts(goal: str, url: str, parts: Sequence[str]) -> list[str]:
    # In a thread: outside of a graph, the prompt files are read here for the first time.
    for name in ("extract_system", "extract_join"):
        prompt_template(name)
    total = str(len(parts))
    return [
        load_prompt("extract_page", goal=goal, url=url, place=str(place), total=total, page=part)
        for place, part in enumerate(parts, 1)
    ]


def _request(prompt: str) -> list[BaseMessage]:
    return [SystemMessage(load_prompt("extract_system")), HumanMessage(prompt)]
