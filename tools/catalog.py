"""The tools by name: the built-in ones, and those of plug-ins. Building a tool opens nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.tools import BaseTool

from ..state.errors import UsageError
from ..state.tools import ToolSettings
from .extras import installing, is_installed, missing_packages
from .plugins import list_plugins, load_plugin
from .resources import resources
from .web.guard import PublicAddresses

BUILT_IN = {
    "ask_human": ".ask_human:AskHuman",
    "bash": ".bash:Bash",
    "browser_use": ".browser.tool:BrowserUse",
    "data_visualization": ".data_visualization:DataVisualization",
    "delegate": ".delegate:Delegate",
    "file_search": ".file_search:FileSearch",
    "file_view": ".file_view:FileView",
    "planning": ".planning:Planning",
    "python_execute": ".python_execute:PythonExecute",
    "reject": ".reject:Reject",
    "str_replace_editor": ".str_replace_editor:StrReplaceEditor",
    "terminate": ".terminate:Terminate",
    "verdict": ".verdict:Verdict",
    "visualization_preparation": ".visualization_preparation:VisualizationPreparation",
    "web_fetch": ".web.fetch:WebFetch",
    "web_search": ".web.search:WebSearch",
}
"""Module and class of each built-in tool."""

PLUGINS = "clew.tools"
"""Entry point group of further tools: each names a class of `BaseTool`, or a tool."""

Search = Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]]
"""From a query to its results, best first."""

Given = Mapping[str, Any]
"""Fields that a tool gets if it has them."""


def tool_names() -> list[str]:
    """Names of all tools, sorted. Imports the plug-ins, and logs those that are refused."""
    return sorted([*BUILT_IN, *list_plugins(PLUGINS, _factory, BUILT_IN)])


def build_tools(
    names: Iterable[str],
    *,
    workspace: Path | None = None,
    settings: ToolSettings | None = None,
    lease: str | None = None,
) -> list[BaseTool]:
    """Make the named tools, in that order.

    Args:
        names: Names of built-in tools and of plug-ins.
        workspace: Folder of the run's files; None takes the run's own.
        settings: Where commands run, how the web is reached; None for the defaults.
        lease: Id of the lease that owns what the tools open; None for one of their own.

    Raises:
        UsageError: there is no tool of that name, or it is a plug-in that is broken.
    """
    settings = settings or ToolSettings()
    given = {
        "workspace": workspace,
        "lease": lease or uuid4().hex,
        "sandbox": settings.sandbox,
        "guard": PublicAddresses(settings.network.allowed_hosts),
    }
    return [_build(name, {**given, **_own(name, given, settings)}) for name in names]


def build_installed(names: Iterable[str], **arguments: Any) -> list[BaseTool]:
    """Make those of the named tools whose packages are installed, as `build_tools` does."""
    return build_tools([name for name in names if is_installed(name)], **arguments)


@asynccontextmanager
async def open_tools(
    names: Iterable[str], *, workspace: Path | None = None, settings: ToolSettings | None = None
) -> AsyncIterator[Sequence[BaseTool]]:
    """Lend the named tools; on exit whatever they opened in the pool of resources is closed.

    Raises:
        UsageError: there is no tool of that name.
    """
    lease = uuid4().hex
    tools = build_tools(names, workspace=workspace, settings=settings, lease=lease)
    try:
        yield tools
    finally:
        await resources().close_owned(lease)


def _own(name: str, given: Given, settings: ToolSettings) -> Given:
    """Fields that only this tool gets."""
    if name == "browser_use":
        return {"settings": settings.browser, "search": _search(given, settings)}
    if name == "web_fetch":
        return {"settings": settings.fetch}
    if name == "web_search":
        return {"settings": settings.search, "fetch": settings.fetch}
    if name == "python_execute":
        return {"preload": settings.python.preload}
    return {}


def _search(given: Given, settings: ToolSettings) -> Search | None:
    """The search behind the browser's own action; None where its packages are missing."""
    if not is_installed("web_search"):
        return None
    from .web.search import WebSearch  # a tool is imported when an agent has it

    return WebSearch(settings=settings.search, fetch=settings.fetch, guard=given["guard"]).find


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
    if missing := missing_packages(name):
        raise UsageError(f"The tool {name!r} needs the package {missing[0]!r}; install it with {installing(name)}.")
    module, _, attribute = BUILT_IN[name].partition(":")
    return _made(getattr(import_module(module, __package__), attribute), given)


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
