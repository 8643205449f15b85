"""A chat model that asks again for the actions of a trajectory; at its end another model takes over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Self

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from ..state.trajectory import read_trajectory
from .chunks import message_chunks
from .profile import model_name
from .script import Script

# The call would otherwise inherit the callbacks of this model's, and every token would be reported twice.
ALONE = RunnableConfig(callbacks=[])


class TrajectoryModel(BaseChatModel):
    """Says the replies of a trajectory in order, then what the model that takes over says.

    Which run of the trajectory a request belongs to, the outermost agent's or a delegate's, is told by its task. The
    place in it is read from the request alone, as a script's is, so that a resumed run goes on where it was.
    """

    scripts: list[tuple[frozenset[str], Script]]
    """The tasks of each run of the trajectory, the outermost agent's first, and the replies in it."""

    load: Callable[[], BaseChatModel]
    """Gives the model that takes over; called when it is needed, off the event loop."""

    _following: BaseChatModel | None = PrivateAttr(None)

    @classmethod
    def from_file(cls, path: Path, load: Callable[[], BaseChatModel]) -> Self:
        """Read a trajectory.

        Raises:
            UsageError: the file cannot be read, or is no trajectory.
        """
        trajectory = read_trajectory(path)
        runs = [trajectory, *trajectory.children]
        scripts = [Script(name=f"trajectory-{place}", replies=list(run.replies())) for place, run in enumerate(runs)]
        tasks = [frozenset(task.message for task in run.tasks()) for run in runs]
        return cls(scripts=list(zip(tasks, scripts, strict=True)), load=load)

    @property
    def model_name(self) -> str:
        """Name of the model that took over, `trajectory` before."""
        return model_name(self._following) if self._following else "trajectory"

    @property
    def _llm_type(self) -> str:
        return "trajectory"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | dict[str, Any] | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools to the model that takes over."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        reply = self._next_reply(messages) or self._offered(kwargs).invoke(messages, ALONE, stop=stop)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        reply = self._next_reply(messages)
        if reply is None:
            # Loading imports a provider's package, which reads files.
            offered = await asyncio.to_thread(self._offered, kwargs)
            reply = await offered.ainvoke(messages, ALONE, stop=stop)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if reply := self._next_reply(messages):
            for chunk in message_chunks(reply):
                yield ChatGenerationChunk(message=chunk)
            return
        offered = await asyncio.to_thread(self._offered, kwargs)
        async for part in offered.astream(messages, ALONE, stop=stop):
            if isinstance(part, AIMessageChunk):
                yield ChatGenerationChunk(message=part)

    def _next_reply(self, messages: list[BaseMessage]) -> AIMessage | None:
        asked = {message.text for message in messages if isinstance(message, HumanMessage)}
        for tasks, script in self.scripts:
            if not tasks.isdisjoint(asked):
                place = script.place_after(messages)
                return script.message_at(place) if place < len(script.replies) else None
        return None

    def _offered(self, kwargs: dict[str, Any]) -> Runnable[LanguageModelInput, AIMessage]:
        if self._following is None:
            self._following = self.load()
        tools = kwargs.get("tools")
        return self._following.bind_tools(tools, tool_choice=kwargs.get("tool_choice")) if tools else self._following
