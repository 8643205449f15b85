"""What the tools that work in a workspace have in common."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import Field

from .output import Output
from .resources import ResourceT, Scope, resources, scope_of
from .run_services import run_services
from .sandbox.choice import open_sandbox
from .sandbox.limits import SandboxOptions
from .sandbox.local import LocalSandbox
from .workspace import Workspace, open_workspace


class WorkspaceTool(BaseTool):
    """A tool with a workspace. It holds no session: what lives longer than a call is in the pool of resources.

    A subclass implements `_arun`. A synchronous call runs it on an event loop of its own, so nothing of it survives.
    """

    workspace: Path | None = None
    """Folder of the run's files; None takes the run's own."""

    sandbox: SandboxOptions = SandboxOptions()
    """Which sandbox the run's commands have; it says where the files of the workspace are."""

    lease: str = Field(default_factory=lambda: uuid4().hex)
    """Id of the lease that owns what the tool opens."""

    def _run(self, *, config: RunnableConfig, **arguments: Any) -> Any:
        return asyncio.run(self._arun(config=config, **arguments))

    def _scope(self, config: RunnableConfig) -> Scope:
        return scope_of(config, self.lease)

    def _open_workspace(self, config: RunnableConfig) -> Workspace:
        return open_workspace(config, self.workspace, self._scope(config).thread, self.sandbox.shown_workspace)

    def _use(
        self, config: RunnableConfig, kind: str, factory: Callable[[], Awaitable[ResourceT]]
    ) -> AbstractAsyncContextManager[ResourceT]:
        return resources().use(self._scope(config), kind, factory, owner=self.lease)

    def _use_sandbox(self, config: RunnableConfig) -> AbstractAsyncContextManager[LocalSandbox]:
        async def opened() -> LocalSandbox:
            return await open_sandbox(await asyncio.to_thread(self._open_workspace, config), self.sandbox)

        # One for all agents of the thread, and never idle: shells and kernels live in it.
        scope = Scope(self._scope(config).thread)
        return resources().use(scope, "sandbox", opened, owner=self.lease, idle=math.inf)

    async def _keep(self, output: Output, config: RunnableConfig) -> None:
        if output.truncated:
            workspace = await asyncio.to_thread(self._open_workspace, config)
            await output.keep(self.name, workspace, run_services(config))


class SandboxedTool(WorkspaceTool):
    """A tool that runs commands in the sandbox of the thread."""
