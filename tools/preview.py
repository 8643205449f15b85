"""What a tool call would do, shown to a person before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from ..state.confirmation import Preview

LANGUAGES = {"command": "bash", "code": "python", "url": "url"}
"""What a text argument of such a name holds, whichever tool takes it."""

SELECTORS = ("action", "command")
"""Arguments that choose what a tool does, where they are one of a few words."""


@runtime_checkable
class Previewing(Protocol):
    """A tool that knows better what to show than its arguments do."""

    async def preview(self, config: RunnableConfig, arguments: Mapping[str, Any]) -> Preview | None:
        """What one call with these arguments, which nobody has validated, would do. Changes and starts nothing.

        None where the arguments themselves say it.
        """


async def preview_of_call(tool: BaseTool, arguments: Mapping[str, Any], config: RunnableConfig) -> Preview:
    """What the tool itself shows of a call, else the command, the code or the address among its arguments."""
    preview = await tool.preview(config, arguments) if isinstance(tool, Previewing) else None
    return preview or _of_arguments(tool, arguments)


def kind_of_call(tool: BaseTool, arguments: Mapping[str, Any], risk: str) -> str:
    """Name of the kind of a call: the tool, what it is told to do where that is one of a few words, and the risk."""
    selectors = [str(arguments[name]) for name in SELECTORS if name in arguments and _is_choice(tool, name)]
    return f"{' '.join([tool.name, *selectors])} ({risk} risk)"


def _of_arguments(tool: BaseTool, arguments: Mapping[str, Any]) -> Preview:
    for name, language in LANGUAGES.items():
        text = arguments.get(name)
        if isinstance(text, str) and text.strip() and not _is_choice(tool, name):
            return Preview(language=language, text=text, arguments=[name])
    return Preview(language="", text="", arguments=[])


def _is_choice(tool: BaseTool, argument: str) -> bool:
    return "enum" in tool.args.get(argument, {})
