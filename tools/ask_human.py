"""`ask_human`: a question to the person, as an interrupt that any front end can answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import interrupt
from pydantic import BaseModel, Field

from ..state.question import Question
from .traits import Traits


class AskHumanArguments(BaseModel):
    """Arguments of `ask_human`."""

    inquire: str = Field(description="The question, with all that the person needs to know to answer it.")


class AskHuman(BaseTool):
    """Ask the person who started the run; the run waits for the answer, for days if need be."""

    name: str = "ask_human"
    description: str = (
        "Ask the person a question and wait for the answer. "
        "Use it when only the person can know or decide; never for what another tool can find out."
    )
    args_schema: type[BaseModel] = AskHumanArguments
    metadata: dict[str, Any] | None = Traits(parallel=True, idempotent=True, risk="low").metadata()

    def _run(self, inquire: str, config: RunnableConfig) -> str:
        return _text(interrupt(_question(inquire, config)))

    async def _arun(self, inquire: str, config: RunnableConfig) -> str:
        return _text(interrupt(_question(inquire, config)))


def _question(inquire: str, config: RunnableConfig) -> Question:
    path = config.get("configurable", {}).get("agent_path", [])
    return Question(kind="input", question=inquire, options=[], data={}, path=list(path))


def _text(answer: Any) -> str:
    """Text of an answer: a string, or an object with an `answer`."""
    if isinstance(answer, Mapping) and "answer" in answer:
        answer = answer["answer"]
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
