"""Chat models that record what another one says, and say it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Self

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from ..state.errors import ModelError, ScriptError, UsageError
from .chunks import message_chunks
from .profile import model_name
from .recording import Record, Request, line_of, read_recording, request_of

# The wrapped call would otherwise inherit the callbacks of the wrapping one, and every token would be reported twice.
ALONE = RunnableConfig(callbacks=[])

MARKER = "record"
"""Key of a replayed reply's `response_metadata` with its place in the recording."""


class RecordingModel(BaseChatModel):
    """Passes every call to `model` and appends request and reply to `path`. A call that fails is not recorded."""

    model: BaseChatModel
    """The model that answers."""

    path: Path
    """The recording, in the format of `recording`; it is created or gets longer."""

    _written: set[str] = PrivateAttr(default_factory=set)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    @property
    def model_name(self) -> str:
        """Name of the model that answers."""
        return model_name(self.model)

    @property
    def _llm_type(self) -> str:
        return "recording"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | dict[str, Any] | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools, in the form that the answering model gives them."""
        bound = self.model.bind_tools(tools, tool_choice=tool_choice, **kwargs)  # type: ignore[arg-type]
        return self.bind(**getattr(bound, "kwargs", {}))

    def _resolve_model_profile(self) -> Any:
        return self.model.profile

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        reply = self.model.invoke(messages, ALONE, stop=stop, **kwargs)
        self._append(messages, kwargs, reply)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        reply = await self.model.ainvoke(messages, ALONE, stop=stop, **kwargs)
        await asyncio.to_thread(self._append, messages, kwargs, reply)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        whole: AIMessageChunk | None = None
        for chunk in self.model.stream(messages, ALONE, stop=stop, **kwargs):
            whole = chunk if whole is None else whole + chunk
            yield ChatGenerationChunk(message=chunk)
        self._append(messages, kwargs, _whole(whole))

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        whole: AIMessageChunk | None = None
        async for chunk in self.model.astream(messages, ALONE, stop=stop, **kwargs):
            whole = chunk if whole is None else whole + chunk
            yield ChatGenerationChunk(message=chunk)
        await asyncio.to_thread(self._append, messages, kwargs, _whole(whole))

    def _append(self, messages: list[BaseMessage], kwargs: dict[str, Any], reply: AIMessage) -> None:
        request = request_of(messages, kwargs.get("tools"))
        try:
            # A line may name parts that an earlier line wrote, so lines are made and written in one order.
            with self._lock, self.path.open("a", encoding="utf-8", errors="replace") as recording:
                recording.write(line_of(request, reply, self._written))
        except OSError as error:
            raise UsageError(f"recording {self.path} cannot be written: {error.strerror}; check the path.") from error


class ReplayModel(BaseChatModel):
    """Says again what a recording holds, to the requests that it holds.

    A request is answered by the record of an equal request; where there is none, by the record of a request with the
    same gist (see `recording`), so that a replay bears tool results and paths that differ. Of several, the first that
    comes after the newest replayed reply in the request and that this process has not used. A request without such a
    record raises `ScriptError`, which says where it departs from the record that is nearest to it.
    """

    path: Path
    """The recording."""

    records: list[Record]
    """What it holds, in order."""

    model_name: str = "replay"
    """Name for display and prices: that of the recorded model where the recording tells it."""

    _by_exact: dict[str, list[int]] = PrivateAttr(default_factory=dict)
    _by_gist: dict[str, list[int]] = PrivateAttr(default_factory=dict)
    _used: set[int] = PrivateAttr(default_factory=set)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a recording.

        Raises:
            UsageError: the file is missing or is not a recording.
        """
        path = Path(path)
        records = read_recording(path)
        names = [record.reply.response_metadata.get("model_name") for record in records]
        return cls(path=path, records=records, model_name=next(filter(None, names), "replay"))

    def model_post_init(self, context: Any) -> None:
        """Index the records."""
        super().model_post_init(context)
        for place, record in enumerate(self.records):
            self._by_exact.setdefault(record.request.exact, []).append(place)
            self._by_gist.setdefault(record.request.gist, []).append(place)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | dict[str, Any] | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools; a request is compared with its tools."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "replay"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, kwargs))])

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in message_chunks(self._reply(messages, kwargs)):
            yield ChatGenerationChunk(message=chunk)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return self._generate(messages, **kwargs)

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, **kwargs):
            yield chunk

    def _reply(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        request = request_of(messages, kwargs.get("tools"))
        places = self._by_exact.get(request.exact) or self._by_gist.get(request.gist)
        if not places:
            raise ScriptError(f"recording {self.path} has no such request: {self._difference(request)}.")
        after = [place for place in places if place > _newest(messages)] or places
        place = next((place for place in after if place not in self._used), after[-1])
        self._used.add(place)
        reply = self.records[place].reply
        metadata = {**reply.response_metadata, MARKER: place}
        return reply.model_copy(update={"id": None, "response_metadata": metadata}, deep=True)

    def _difference(self, request: Request) -> str:
        if not self.records:
            return "it is empty; record it again"
        nearest = max(self.records, key=lambda record: _common(record.request, request)).request
        common = _common(nearest, request)
        asked, recorded = (_shown(each.messages, common) for each in (request, nearest))
        if asked != recorded:
            return f"message {common + 1} is {asked}, recorded was {recorded}; record it again"
        return f"the tools are {_tool_names(request)}, recorded were {_tool_names(nearest)}; record it again"


def _whole(chunk: AIMessageChunk | None) -> AIMessage:
    if chunk is None:
        raise ModelError("the model's stream ended without a reply; call it again.")
    message = message_chunk_to_message(chunk)
    assert isinstance(message, AIMessage)
    return message


def _newest(messages: Sequence[BaseMessage]) -> int:
    for message in reversed(messages):
        place = message.response_metadata.get(MARKER)
        if isinstance(place, int):
            return place
    return -1


def _common(one: Request, other: Request) -> int:
    """Messages at the beginning that two requests share."""
    for place, (mine, theirs) in enumerate(zip(one.messages, other.messages, strict=False)):
        if mine != theirs and not (mine["type"] == theirs["type"] in {"system", "tool"}):
            return place
    return min(len(one.messages), len(other.messages))


def _shown(messages: Sequence[dict[str, Any]], place: int) -> str:
    if place >= len(messages):
        return "missing"
    message = messages[place]
    return f"{message['type']} {str(message['content'] or message.get('calls', ''))[:200]!r}"


def _tool_names(request: Request) -> list[str]:
    return [str(tool.get("function", tool).get("name")) for tool in request.tools]
