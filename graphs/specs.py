"""The agents by name: the built-in ones, and those of plug-ins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType

from ..state.errors import UsageError
from ..state.remote_agents import PREFIX, remote_address, remote_name
from ..state.settings import Settings
from ..state.spec import AgentSpec
from ..tools.plugins import list_plugins, load_plugin, load_plugins
from .browser import BROWSER
from .coding import CODING
from .mcp import MCP_AGENT

PLUGINS = "clew.agents"
"""Entry point group of further agents: each names an `AgentSpec`."""

MANUS = AgentSpec(
    name="manus",
    description="A general agent: runs code and commands, edits files, asks the person where it must.",
    system_prompt="prompt:manus_system",
    next_step_prompt="prompt:manus_next_step",
    tools=("python_execute", "bash", "str_replace_editor", "ask_human", "terminate"),
    optional_tools=("browser_use", "web_search", "web_fetch"),
    mcp_servers=("*",),
    context=("recent_browser",),
    max_steps=20,
    max_observe=10_000,
)

PLANNING = AgentSpec(
    name="planning",
    description="A general agent that works by a plan of its own and keeps it up to date.",
    system_prompt="prompt:planning_system",
    tools=("planning", *MANUS.tools),
    optional_tools=MANUS.optional_tools,
    context=("plan", "recent_browser"),
    max_steps=20,
    max_observe=10_000,
)

DATA_ANALYSIS = AgentSpec(
    name="data_analysis",
    description="An analyst: works out what data says, draws charts of it and writes a report.",
    system_prompt="prompt:data_analysis_system",
    next_step_prompt="prompt:manus_next_step",
    tools=("python_execute", "str_replace_editor", "terminate"),
    optional_tools=("visualization_preparation", "data_visualization"),
    max_steps=20,
    max_observe=15_000,
)

BUILT_IN: Mapping[str, AgentSpec] = MappingProxyType(
    {spec.name: spec for spec in (MANUS, PLANNING, DATA_ANALYSIS, BROWSER, MCP_AGENT, *CODING)}
)
"""The built-in specs by name."""


class _Agents(Mapping[str, AgentSpec]):
    """Built-in specs first, then those of plug-ins, which are imported when they are asked for or listed."""

    def __getitem__(self, name: str) -> AgentSpec:
        spec = BUILT_IN.get(name) or load_plugin(PLUGINS, name, _spec)
        if spec is None:
            raise KeyError(name)
        return spec

    def __iter__(self) -> Iterator[str]:
        return iter([*BUILT_IN, *list_plugins(PLUGINS, _spec, BUILT_IN)])

    def __len__(self) -> int:
        return len(BUILT_IN) + len(load_plugins(PLUGINS, _spec, BUILT_IN)[0])


AGENTS: Mapping[str, AgentSpec] = _Agents()
"""All specs by name. Going through them logs each plug-in that is refused."""


def agent_spec(spec: AgentSpec | str, others: Sequence[str] = ()) -> AgentSpec:
    """The spec itself, or the one of that name; `a2a:URL` names the agent whose card is found there.

    Args:
        spec: a spec or its name.
        others: further names that the caller knows, for the advice about a name that there is not.

    Raises:
        UsageError: there is no agent of that name, or it is a plug-in that is broken.
    """
    if isinstance(spec, AgentSpec):
        return spec
    if spec.startswith(PREFIX):
        address = remote_address(spec)
        return AgentSpec(name=remote_name(address), description=f"The agent at {address}.", remote=address)
    if spec in AGENTS:
        return AGENTS[spec]
    names = [*AGENTS, *others]
    near = get_close_matches(spec, names, n=1)
    advice = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
    raise UsageError(f"no agent {spec!r}; {advice}")


def flow_agents(settings: Settings) -> list[AgentSpec]:
    """The agents that carry out plans by the settings, the primary one first.

    Raises:
        UsageError: there is no agent of a name that stands there.
    """
    try:
        return [agent_spec(name) for name in settings.runflow.agents]
    except UsageError as error:
        raise UsageError(f"[runflow] agents: {error}") from error


def _spec(plugin: object) -> AgentSpec:
    if isinstance(plugin, AgentSpec):
        return plugin
    raise TypeError(f"{plugin!r} is no AgentSpec")
