"""A chat model that says what a script says. It is a chat model in full: it streams, binds tools and counts tokens."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

from langchain_core.exceptions import ModelConnectionError
from langchain_core.exceptions import ModelError as ProviderError
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from ..state.errors import ScriptError
from ..state.settings import first_line
from .chunks import message_chunks
from .script import ReplyFunction, Script, ScriptedError, ScriptedReply
from .script_file import read_script
from .tokens import estimate_tokens, message_tokens


class ScriptedStatus(ProviderError):
    """A scripted failure with an HTTP status, as a provider's client would raise it."""

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


class _Answer(NamedTuple):
    message: AIMessage
    delay: float


class ScriptedModel(BaseChatModel):
    """Says what its script says: `replies` in order, or `scripts` chosen by request, or what a function returns.

    The place in a script is read from the request alone (its newest AI message that the script gave), so the model
    goes on after a resume in another process and after the history was cut. Every reply is a fresh copy without an id.
    A call beyond the end of the script, or with a request that no script fits, raises `ScriptError`.
    """

    model_name: str = "scripted"
    """Name for display and prices."""

    source: str = "the script"
    """Where the script came from, for messages."""

    scripts: list[Script] = Field(default_factory=list)
    """In the order in which they are tried. `replies=[...]` is short for one script that fits every request."""

    reply: ReplyFunction | None = None
    """Function that answers instead of scripts."""

    _failures: Counter[tuple[str, int]] = PrivateAttr(default_factory=Counter)

    @model_validator(mode="before")
    @classmethod
    def _from_replies(cls, values: Any) -> Any:
        if isinstance(values, dict) and "replies" in values:
            values = {**values, "scripts": [{"replies": values["replies"]}]}
        return values

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a `.json` or `.py` script; `script_file` tells the format.

        Raises:
            UsageError: the file is missing or malformed.
        """
        path = Path(path)
        found = read_script(path)
        if isinstance(found, list):
            return cls(model_name=f"script:{path.name}", source=str(path), scripts=found)
        return cls(model_name=f"script:{path.name}", source=str(path), reply=found)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | bool | dict[str, Any] | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools to `reply`; `tool_choice` `none` hides them, and a tool's name leaves that tool alone."""
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=schemas, tool_choice=tool_choice, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if self.reply is None:
            answer = self._next_reply(messages)
        else:
            said = self.reply(list(messages), _offered(kwargs))
            answer = self._answer(_run(said) if inspect.isawaitable(said) else said)
        time.sleep(answer.delay)
        return self._result(answer.message, messages, kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        if self.reply is None:
            answer = self._next_reply(messages)
        else:
            said = self.reply(list(messages), _offered(kwargs))
            answer = self._answer(await said if inspect.isawaitable(said) else said)
        await asyncio.sleep(answer.delay)
        return self._result(answer.message, messages, kwargs)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        yield from _chunks(self._generate(messages, stop, **kwargs))

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(await self._agenerate(messages, stop, **kwargs)):
            yield chunk

    def _next_reply(self, messages: list[BaseMessage]) -> _Answer:
        script = self._script_for(messages)
        for place in range(script.place_after(messages), len(script.replies)):
            reply = script.replies[place]
            if isinstance(reply, AIMessage):
                return _Answer(script.message_at(place), 0.0)
            if reply.error is None:
                return _Answer(script.message_at(place), reply.delay)
            if self._failures[script.name, place] < reply.error.times:
                self._failures[script.name, place] += 1
                raise _failure(reply.error)
        raise ScriptError(
            f"{self.source}: script {script.name!r} ends at reply {len(script.replies)} and the run asks for another "
            f"one; add it, or let the last reply end the run."
        )

    def _script_for(self, messages: list[BaseMessage]) -> Script:
        text = "\n".join(message.text for message in messages if isinstance(message, SystemMessage | HumanMessage))
        for script in self.scripts:
            if script.fits(text):
                return script
        raise ScriptError(f"{self.source}: no script fits the request that ends in {text[-200:]!r}; add one.")

    def _answer(self, said: Any) -> _Answer:
        """What the function returned, as a message and the seconds to wait before it."""
        if isinstance(said, AIMessage):
            return _Answer(said, 0.0)
        try:
            reply = ScriptedReply.model_validate(said)
        except ValidationError as error:
            raise ScriptError(
                f"{self.source}: reply() must return an AIMessage, a text or a reply as in JSON: {first_line(error)}."
            ) from error
        if reply.error is not None:
            raise _failure(reply.error)
        return _Answer(reply.message(f"call_{uuid4().hex[:16]}"), reply.delay)

    def _result(self, message: AIMessage, messages: list[BaseMessage], kwargs: dict[str, Any]) -> ChatResult:
        calls = message.tool_calls or message.invalid_tool_calls
        reason = "tool_calls" if calls else "stop"
        metadata = {"model_name": kwargs.get("model") or self.model_name, "finish_reason": reason}
        update = {
            "id": None,
            "response_metadata": {**metadata, **message.response_metadata},
            "usage_metadata": message.usage_metadata or _estimated_usage(message, messages, _offered(kwargs)),
        }
        return ChatResult(generations=[ChatGeneration(message=message.model_copy(update=update, deep=True))])


def _chunks(result: ChatResult) -> Iterator[ChatGenerationChunk]:
    message = result.generations[0].message
    assert isinstance(message, AIMessage)
    for chunk in message_chunks(message):
        yield ChatGenerationChunk(message=chunk)


def _run(awaitable: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await awaitable

    # In a thread of its own, because the caller's thread may run a loop already.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def _offered(kwargs: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools of a request that the model may call."""
    tools: list[dict[str, Any]] = kwargs.get("tools") or []
    choice = kwargs.get("tool_choice")
    if choice == "none":
        return []
    chosen = choice.get("function", {}).get("name") if isinstance(choice, dict) else choice
    return [tool for tool in tools if tool.get("function", {}).get("name") == chosen] or tools


def _failure(error: ScriptedError) -> Exception:
    if error.status is None:
        return ModelConnectionError(error.message)
    return ScriptedStatus(error.message, error.status)


def _estimated_usage(message: AIMessage, messages: list[BaseMessage], tools: list[dict[str, Any]]) -> UsageMetadata:
    sent, received = estimate_tokens(messages, tools), message_tokens(message)
    return UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=sent + received)
