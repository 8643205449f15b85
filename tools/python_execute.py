"""`python_execute`: run Python code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ..state.errors import ToolFailure
from .base import SandboxedTool
from .image_blocks import Content, image_block, with_images
from .output import Output
from .python.execution import Execution, execute
from .python.kernel import Kernel
from .python.script import run_script
from .python.worker import Worker
from .python.written import describe, file_clock, files_written
from .resources import resources
from .text import require_text
from .traits import Traits

WORKER = "python"
"""Kind of the warm worker in the pool of resources."""

KERNEL = "kernel"
"""Kind of the kernel in the pool of resources."""

TIMEOUT_SECONDS = 60.0
"""Time of code that names none."""


class PythonExecuteArguments(BaseModel):
    """Arguments of `python_execute`."""

    code: str = Field(description="The Python code. The value of its last expression is shown, as in a notebook.")
    timeout: float = Field(TIMEOUT_SECONDS, gt=0, le=3600, description="Seconds after which the code is stopped.")
    stateful: bool = Field(
        False,
        description="Whether to run in a kernel that remembers what stateful calls defined, as a notebook does.",
    )


class PythonArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    exit_code: int | None
    """0 after a normal end, 1 after an exception, else what the code exited with; None where its time was over."""

    timed_out: bool
    """Whether the code was stopped because its time was over."""

    truncated: bool
    """Whether the text leaves output out."""

    output_file: str | None
    """Path, relative to the workspace, of the whole output where the text is truncated."""

    output_blob: str | None
    """Reference of the same among the thread's payloads."""

    figures: int
    """How many figures are shown beside the text."""

    kernel_lost: bool
    """Whether the kernel ended with the call, and with it all that it remembered."""

    files: list[str]
    """Paths, relative to the workspace, of the files that were written meanwhile."""


class PythonExecute(SandboxedTool):
    """Run Python code in a fresh process or a kept kernel, with the interpreter that runs clew and its packages."""

    name: str = "python_execute"
    description: str = (
        "Run Python code in a fresh process whose current folder is the workspace. There may be no network. "
        "Shown are what it prints, the value of the last expression, the traceback of an error, matplotlib's figures, "
        "and the names of the files it writes. Nothing is remembered between calls, unless `stateful` is true."
    )
    args_schema: type[BaseModel] = PythonExecuteArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    preload: tuple[str, ...] = ()
    """Modules that the worker imports beforehand, so that the code need not wait for them."""

    metadata: dict[str, Any] | None = Traits(parallel=True, idempotent=False, risk="high").metadata()

    async def _arun(
        self,
        code: str,
        config: RunnableConfig,
        timeout: float = TIMEOUT_SECONDS,  # noqa: ASYNC109 - an argument of the model's, not of the caller's
        stateful: bool = False,
    ) -> tuple[Content, PythonArtifact]:
        require_text(code, "code")
        workspace = await asyncio.to_thread(self._open_workspace, config)
        start = file_clock()
        if stateful:
            execution = await self._execute_in_kernel(code, config, partial(self._open_kernel, config), timeout)
        else:
            execution = await self._execute(code, config, Output(), timeout)
        await self._keep(execution.output, config)
        files = await asyncio.to_thread(files_written, workspace.root, start)
        lost = stateful and execution.lost
        content = with_images(_content(execution, files, timeout, lost), map(image_block, execution.figures))
        return content, _artifact(execution, files, lost)

    async def _execute(self, code: str, config: RunnableConfig, output: Output, seconds: float) -> Execution:
        async with self._use_sandbox(config) as sandbox:
            if not sandbox.inherits:
                return await run_script(code, sandbox, output, seconds)
        async with self._use(config, WORKER, partial(self._open_worker, config)) as worker:
            try:
                execution = await execute(code, worker, output, seconds)
            except OSError:
                execution = None
        if execution is None or execution.lost:
            await resources().close(self._scope(config), WORKER)
        # The worker was gone before the code began: the next one runs it.
        return execution or await self._execute(code, config, output, seconds)

    async def _execute_in_kernel(
        self, code: str, config: RunnableConfig, opened: Callable[[], Awaitable[Kernel]], seconds: float
    ) -> Execution:
        async with self._use(config, KERNEL, opened) as kernel:
            execution = await kernel.run(code, seconds) if kernel.alive else None
        if execution is None or execution.lost:
            await resources().close(self._scope(config), KERNEL)
        return execution or await self._execute_in_kernel(code, config, opened, seconds)

    async def _open_worker(self, config: RunnableConfig) -> Worker:
        async with self._use_sandbox(config) as sandbox:
            return await Worker.open(sandbox, self.preload)

    async def _open_kernel(self, config: RunnableConfig) -> Kernel:
        async with self._use_sandbox(config) as sandbox:
            if not sandbox.inherits:
                raise ToolFailure(f"There is no kernel in the sandbox {sandbox.name}; leave `stateful` out.")
            return await Kernel.open(sandbox, sandbox.workspace)


def _artifact(execution: Execution, files: list[str], lost: bool) -> PythonArtifact:
    output = execution.output
    return PythonArtifact(
        exit_code=execution.exit_code,
        timed_out=execution.exit_code is None,
        truncated=output.truncated,
        output_file=output.kept.file if output.kept else None,
        output_blob=output.kept.blob if output.kept else None,
        figures=len(execution.figures),
        kernel_lost=lost,
        files=files,
    )


def _content(execution: Execution, files: list[str], seconds: float, lost: bool) -> str:
    lines = [text] if (text := execution.output.text().rstrip("\n")) else []
    if files:
        lines.append(describe(files))
    if execution.exit_code is None:
        lines.append(f"[stopped: it ran for more than {seconds:g} seconds]")
    else:
        lines.append(f"[exit code {execution.exit_code}]")
    if lost:
        lines.append("[the kernel ended: what it remembered is gone, and the next stateful call begins anew]")
    return "\n".join(lines)
