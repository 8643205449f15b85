"""The tools by name: the built-in ones, and those of plug-ins. Building a tool opens nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.tools import BaseTool

from ..state.browser import BrowserSettings
from ..state.errors import UsageError
from .plugins import list_plugins, load_plugin
from .resources import resources
from .sandbox.limits import SandboxOptions

BUILT_IN = {
    "ask_human": ".ask_human:AskHuman",
    "bash": ".bash:Bash",
    "browser_use": ".browser.tool:BrowserUse",
    "data_visualization": ".data_visualization:DataVisualization",
    "file_search": ".file_search:FileSearch",
    "planning": ".planning:Planning",
    "python_execute": ".python_execute:PythonExecute",
    "str_replace_editor": ".str_replace_editor:StrReplaceEditor",
    "terminate": ".terminate:Terminate",
    "visualization_preparation": ".visualization_preparation:VisualizationPreparation",
    "web_fetch": ".web.fetch:WebFetch",
    "web_search": ".web.search:WebSearch",
}
"""Module and class of each built-in tool."""

PLUGINS = "clew.tools"
"""Entry point group of further tools: each names a class of `BaseTool`, or a tool."""

Given = Mapping[str, Any]
"""Fields that a tool gets if it has them."""

EXTRAS = {"browser_use": "browser", "web_fetch": "web", "web_search": "web"}
"""Extra of the package that a tool needs."""


def tool_names() -> list[str]:
    """Names of all tools, sorted. Imports the plug-ins, and logs those that are refused."""
    return sorted([*BUILT_IN, *list_plugins(PLUGINS, _factory, BUILT_IN)])


def build_tools(
    names: Iterable[str],
    *,
    workspace: Path | None = None,
    sandbox: SandboxOptions | None = None,
    browser: BrowserSettings | None = None,
    lease: str | None = None,
) -> list[BaseTool]:
    """Make the named tools, in that order.

    Args:
        names: Names of built-in tools and of plug-ins.
        workspace: Folder of the run's files; None takes the run's own.
        sandbox: Which sandbox commands run in; None for bubblewrap where it works, without network.
        browser: How the browser is started; None for the defaults.
        lease: Id of the lease that owns what the tools open; None for one of their own.

    Raises:
        UsageError: there is no tool of that name, or it is a plug-in that is broken.
    """
    given = {"workspace": workspace, "sandbox": sandbox or SandboxOptions(), "lease": lease or uuid4().hex}
    own = {"browser_use": {"settings": browser or BrowserSettings()}}
    return [_build(name, {**given, **own.get(name, {})}) for name in names]


@asynccontextmanager
async def open_tools(
    names: Iterable[str], *, workspace: Path | None = None, sandbox: SandboxOptions | None = None
) -> AsyncIterator[Sequence[BaseTool]]:
    """Lend the named tools; on exit whatever they opened in the pool of resources is closed.

    Raises:
        UsageError: there is no tool of that name.
    """
    lease = uuid4().hex
    tools = build_tools(names, workspace=workspace, sandbox=sandbox, lease=lease)
    try:
        yield tools
    finally:
        await resources().close_owned(lease)


def _build(name: str, given: Given) -> BaseTool:
    if name in BUILT_IN:
        return _built_in(name, given)
    factory = load_plugin(PLUGINS, name, _factory)
    if factory is None:
        raise UsageError(_unknown(name))
    tool = factory(given)
    if tool.name != name:
        raise UsageError(f"The plug-in {name!r} makes a tool that is called {tool.name!r}; give both the same name.")
    return tool


def _built_in(name: str, given: Given) -> BaseTool:
    module, _, attribute = BUILT_IN[name].partition(":")
    try:
        return _made(getattr(import_module(module, __package__), attribute), given)
    except ModuleNotFoundError as error:
        if name not in EXTRAS:
            raise
        advice = f"install it with pip install 'clew[{EXTRAS[name]}]'"
        raise UsageError(f"The tool {name!r} needs the package {error.name!r}; {advice}.") from error


def _factory(plugin: object) -> Callable[[Given], BaseTool]:
    if isinstance(plugin, BaseTool):
        return lambda given: plugin
    if isinstance(plugin, type) and issubclass(plugin, BaseTool):
        return partial(_made, plugin)
    raise TypeError(f"{plugin!r} is neither a tool nor a class of tools")


def _made(tool_class: type[BaseTool], given: Given) -> BaseTool:
    return tool_class(**{key: value for key, value in given.items() if key in tool_class.model_fields})


def _unknown(name: str) -> str:
    names = tool_names()
    near = get_close_matches(name, names, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "choose one of them."
    return f"There is no tool {name!r}; the tools are {', '.join(names)}: {advice}"
