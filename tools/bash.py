"""`bash`: a persistent shell."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ..state.errors import ToolFailure
from .base import SandboxedTool
from .resources import resources
from .sandbox.process import GuardedProcess
from .shell.session import PROMPTS, SHELL, CommandResult, Shell
from .shell.terminal import KEYS
from .text import require_text
from .traits import Traits

KIND = "shell"
"""Kind of the session in the pool of resources."""

INTERRUPT = "C-c"
"""Key that interrupts a program."""

Key = Literal["C-c", "C-d", "Enter", "Tab", "Escape", "Backspace", "Up", "Down", "Right", "Left"]

TIMEOUT_SECONDS = 120.0
"""Time of a command that names none."""


class BashArguments(BaseModel):
    """Arguments of `bash`."""

    command: str = Field(
        "", description="What bash shall run. May have several lines. Empty to go on with an interactive command."
    )
    interactive: bool = Field(
        False,
        description="Give the command a terminal, for programs that ask or have a prompt. The call returns when the "
        "program waits; it runs on, and the next calls send `input` or `keys`, or neither to wait for more output.",
    )
    input: str | None = Field(None, description="Line to type to the interactive command; Enter is added.")
    keys: Key | None = Field(None, description="Key to press in the interactive command.")
    restart: bool = Field(False, description="Throw the session away and begin a fresh one before the command.")
    timeout: float = Field(
        TIMEOUT_SECONDS,
        gt=0,
        le=3600,
        description="Seconds after which the command is interrupted; an interactive one runs on.",
    )


class BashArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    exit_code: int | None
    """None where nothing was run, or an interactive command still runs."""

    running: bool
    """Whether an interactive command still runs."""

    timed_out: bool
    """Whether the command was interrupted because its time was over."""

    truncated: bool
    """Whether the text leaves output out."""

    output_file: str | None
    """Path, relative to the workspace, of the whole output where the text is truncated."""

    output_blob: str | None
    """Reference of the same among the thread's payloads."""


class Bash(SandboxedTool):
    """Run commands in a shell that lives on between calls, one per agent and thread."""

    name: str = "bash"
    description: str = (
        "Run a command in a persistent bash session, which starts in the workspace. There may be no network. "
        "The working folder, variables and functions live on from call to call. "
        "Standard input is empty unless the command is interactive. "
        "Start what shall keep running with `&`. A command that runs out of time is interrupted; the session lives on. "
        "Of long output the beginning and the end are shown; the whole is saved in a file that is named."
    )
    args_schema: type[BaseModel] = BashArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=False, risk="high").metadata()

    async def _arun(self, config: RunnableConfig, **arguments: Any) -> tuple[str, BashArtifact]:
        asked = BashArguments(**arguments)
        require_text(asked.command, "command")
        require_text(asked.input or "", "input")
        if asked.restart:
            await resources().close(self._scope(config), KIND)
            if not asked.command.strip():
                return "A fresh session begins with the next command.", _NOTHING
        async with self._use(config, KIND, partial(self._open, config)) as shell:
            try:
                result = await _perform(shell, asked)
            finally:
                if not shell.alive:
                    await resources().close(self._scope(config), KIND)
        await self._keep(result.output, config)
        return _content(result, asked.timeout), _artifact(result)

    async def _open(self, config: RunnableConfig) -> Shell:
        async with self._use_sandbox(config) as sandbox:

            def start(descriptors: Sequence[int]) -> Awaitable[GuardedProcess]:
                return sandbox.start(SHELL, env=PROMPTS, descriptors=descriptors)

            return await Shell.open(start)


async def _perform(shell: Shell, asked: BashArguments) -> CommandResult:
    if asked.command.strip():
        if shell.running:
            raise ToolFailure("A command still runs; send `input` or `keys`, wait for it without command, or restart.")
        if asked.input is not None or asked.keys is not None:
            raise ToolFailure("`input` and `keys` go to a command that runs already; start it first, then send them.")
        return await (shell.interact if asked.interactive else shell.run)(asked.command, asked.timeout)
    if not shell.running:
        raise ToolFailure("The command is empty and none runs; give a command.")
    if asked.keys == INTERRUPT:
        return await shell.press_interrupt(asked.timeout)
    typed = b"" if asked.input is None else f"{asked.input}\n".encode()
    return await shell.send(typed + KEYS.get(asked.keys or "", b""), asked.timeout)


_NOTHING = BashArtifact(
    exit_code=None, running=False, timed_out=False, truncated=False, output_file=None, output_blob=None
)


def _artifact(result: CommandResult) -> BashArtifact:
    output = result.output
    return BashArtifact(
        exit_code=result.exit_code,
        running=result.exit_code is None,
        timed_out=result.timed_out,
        truncated=output.truncated,
        output_file=output.kept.file if output.kept else None,
        output_blob=output.kept.blob if output.kept else None,
    )


def _content(result: CommandResult, timeout: float) -> str:
    lines = [text] if (text := result.output.text().rstrip("\n")) else []
    if result.timed_out:
        lines.append(f"[interrupted: it ran for more than {timeout:g} seconds]")
    if result.ended:
        lines.append(f"[the shell ended with exit code {result.exit_code}; the next command starts a fresh one]")
    elif result.exit_code is None:
        lines.append("[it still runs: send `input` or `keys`, or call without command to wait for more]")
    else:
        lines.append(f"[exit code {result.exit_code}]")
    return "\n".join(lines)
