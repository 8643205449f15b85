"""The model and the tool of all contestants that are built on LangChain."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from workload import ANSWER, TOOL, TOOL_DESCRIPTION, Job, argument, look, text

USAGE = {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}


class Model(BaseChatModel):
    """Calls the tool so many times, then answers."""

    steps: int
    requests: list[Any] | None = None
    said: int = 0

    @property
    def _llm_type(self) -> str:
        return "bench"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if self.requests is not None:
            self.requests.append(convert_to_openai_messages(messages))
        self.said += 1
        if self.said > self.steps:
            reply = AIMessage(ANSWER, usage_metadata=dict(USAGE))
        else:
            call = {"name": TOOL, "args": {"path": argument(self.said)}, "id": f"call_{self.said}"}
            reply = AIMessage(text(self.said), tool_calls=[call], usage_metadata=dict(USAGE))
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._generate(messages)


def model(job: Job) -> Model:
    # Assigned, because pydantic would copy the list.
    made = Model(steps=job.steps)
    made.requests = job.requests
    return made


def tool(**options: Any) -> BaseTool:
    async def look_async(path: str) -> str:
        return look(path)

    return StructuredTool.from_function(look, look_async, TOOL, TOOL_DESCRIPTION, **options)
