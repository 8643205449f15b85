"""A tool of an MCP server, as a LangChain tool."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from ...state.errors import ToolFailure
from ..base import WorkspaceTool
from ..image_blocks import Content
from ..traits import traits_of
from .asked import CONFIG_KEY_CHECKPOINTER, question_left_open
from .call import Asked, Call, ConnectionGone
from .questions import CANCEL, elicitation_question
from .results import result_content

if TYPE_CHECKING:
    from .session import ServerSession


class McpTool(WorkspaceTool):
    """One tool of one server. What it may break is what the server says of it."""

    server_name: str
    """Name of the server."""

    remote_name: str
    """Name of the tool, as the server calls it."""

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"

    open_session: Callable[[RunnableConfig], AbstractAsyncContextManager[Any]]
    """Lends the `ServerSession` of a thread with the server."""

    # The arguments are the server's own, so none of ours may have a name that one of them could have.
    async def _arun(self, /, clew_config: RunnableConfig, **arguments: Any) -> tuple[Content, dict[str, Any]]:
        async with self.open_session(clew_config) as session:
            key = str(clew_config.get("configurable", {}).get("checkpoint_ns") or uuid4())
            try:
                call = session.parked(key) or await self._begin(session, key, clew_config, arguments)
                await self._answered(call, clew_config)
                result = call.result()
            except GraphInterrupt:
                raise
            except ConnectionGone as error:
                session.lose()
                await session.drop(key)
                raise ToolFailure(self._cut_off()) from error
            except BaseException:
                await asyncio.shield(session.drop(key))
                raise
            await session.drop(key)
        workspace = await asyncio.to_thread(self._open_workspace, clew_config)
        content, artifact = await result_content(result, workspace)
        if result.is_error:
            raise ToolFailure(content if isinstance(content, str) else str(content[0]["text"]))
        return content, {**artifact, "server": self.server_name, "tool": self.remote_name}

    def _run(self, /, clew_config: RunnableConfig, **arguments: Any) -> Any:  # type: ignore[override]
        return asyncio.run(self._arun(clew_config=clew_config, **arguments))

    async def _begin(
        self, session: ServerSession, key: str, config: RunnableConfig, arguments: Mapping[str, Any]
    ) -> Call:
        left = await question_left_open(config)
        if left is None:
            return await session.begin(key, self.remote_name, arguments)
        state = left["data"].get("state")
        if state is not None:
            for _ in range(state["before"]):
                interrupt(left)
        elif not traits_of(self).idempotent:
            # The server waited with the call for an answer in a process that has ended.
            raise ToolFailure(self._cut_off())
        return await session.begin(key, self.remote_name, arguments, state)

    async def _answered(self, call: Call, config: RunnableConfig) -> None:
        """Wait until the call is over; each question of the server interrupts, and is answered on the way back."""
        call.on_progress = self._progress(config)
        settled = 0
        while True:
            for asked in call.asked[settled:]:
                answer = self._ask(asked, config)
                if not asked.answer.done():
                    asked.answer.set_result(answer)
                settled += 1
            if await call.open_question() is None:
                return

    def _ask(self, asked: Asked, config: RunnableConfig) -> Any:
        configurable = config.get("configurable", {})
        if configurable.get(CONFIG_KEY_CHECKPOINTER) is None:
            return CANCEL  # nobody could ever answer
        path = configurable.get("agent_path", [])
        question = elicitation_question(self.server_name, self.remote_name, asked.elicitation, path, asked.state)
        return interrupt(question)

    def _progress(self, config: RunnableConfig) -> Callable[[float, float | None, str | None], Awaitable[None]] | None:
        if "checkpoint_ns" not in config.get("configurable", {}):
            return None
        write, run = get_stream_writer(), contextvars.copy_context()

        async def tell(done: float, total: float | None, message: str | None) -> None:
            # The server's notices arrive outside of the run, whose context the writer needs.
            part = {"kind": "progress", "tool": self.name, "done": done, "total": total, "message": message or ""}
            run.run(write, part)

        return tell

    def _cut_off(self) -> str:
        return (
            f"the connection to {self.server_name} was lost during `{self.remote_name}`, which may or may not have "
            "taken effect: look at what it did before you call it again."
        )
