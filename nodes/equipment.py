"""What the nodes of one agent work with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from ..prompts.load import fill, spec_template
from ..state.agent import Progress
from ..state.condensation import Condenser
from ..state.confirmation import Policy
from ..state.context import RunContext, run_context
from ..state.errors import UsageError
from ..state.sandbox import SandboxOptions
from ..state.settings import Settings
from ..state.spec import AgentSpec
from ..tools.traits import RISKY, traits_of
from .limits import Meter, meter
from .model_source import ModelSource
from .reply import KnownIds
from .tool_config import tool_config
from .toolbox import Toolbox

if TYPE_CHECKING:  # few agents have servers
    from ..tools.mcp.toolset import McpToolset, Offer

MCP = "mcp"
"""The context node of an agent with MCP servers."""


@dataclass(frozen=True)
class Equipment:
    """The spec, the model, the tools and the settings that the nodes of one agent share."""

    spec: AgentSpec
    """What the agent is."""

    tools: dict[str, BaseTool]
    """Its own tools by name, in the order of the spec; those of MCP servers are known only to a run."""

    models: ModelSource
    """Where its model comes from."""

    settings: Settings
    """Where defaults come from."""

    delegates: tuple[str, ...] = ()
    """Names of the agents that it can give tasks to, each with a node of its own."""

    workspace: Path | None = None
    """Folder of the run's files, where the graph was made with one."""

    confirm: Policy | None = None
    """Which calls a person is asked about, where the graph was made with a policy."""

    mcp: McpToolset | None = None
    """Its MCP servers; None for an agent that has none."""

    known_ids: KnownIds = field(default_factory=KnownIds)
    """The ids that messages and calls of its threads have."""

    _toolboxes: dict[int, tuple[Offer, Toolbox]] = field(default_factory=dict)
    _prompts: dict[tuple[str, Path], str] = field(default_factory=dict)
    _workspaces: dict[tuple[str | None, str | None], Path] = field(default_factory=dict)
    _contains: list[bool] = field(default_factory=list)
    _meters: list[tuple[RunContext, dict[str, float], Meter]] = field(default_factory=list)

    @property
    def condensers(self) -> Sequence[Condenser]:
        """What makes the history fit: the spec's condensers, else the settings'."""
        return self.spec.condensers or self.settings.condense

    @property
    def context(self) -> tuple[str, ...]:
        """Names of the context nodes: those of the spec, and one that looks after MCP servers where there are some."""
        return (MCP, *self.spec.context) if self.mcp else self.spec.context

    @cached_property
    def toolbox(self) -> Toolbox:
        """Its own tools."""
        return Toolbox(self.tools, self.spec.tool_choice)

    async def toolbox_of(self, config: RunnableConfig) -> Toolbox:
        """Its own tools and those of its MCP servers, as they stand in the run of this `call_config`."""
        if self.mcp is None:
            return self.toolbox
        from ..tools.mcp.toolset import MOST_OFFERS

        offer = await self.mcp.offer(config)
        if id(offer) not in self._toolboxes:
            for oldest in list(self._toolboxes)[: len(self._toolboxes) - MOST_OFFERS]:
                del self._toolboxes[oldest]
            self._toolboxes[id(offer)] = offer, Toolbox({**self.tools, **offer.tools}, self.spec.tool_choice)
        return self._toolboxes[id(offer)][1]

    async def toolbox_for(self, config: RunnableConfig, task: AnyMessage, runtime: Runtime[RunContext]) -> Toolbox:
        """`toolbox_of` the run that a node is in."""
        return self.toolbox if self.mcp is None else await self.toolbox_of(self.call_config(config, task, runtime))

    def call_config(self, config: RunnableConfig, task: AnyMessage, runtime: Runtime[RunContext]) -> RunnableConfig:
        """The config under which a tool of the run would be called, for whoever asks what it has open."""
        return tool_config(
            config, task=task.id or "", workspace=self.workspace_of(runtime), path=list(agent_path(config))
        )

    def workspace_of(self, runtime: Runtime[RunContext]) -> Path:
        """Folder of this run's files: the context's, else the graph's, else the thread's own."""
        thread = runtime.execution_info.thread_id if runtime.execution_info else None
        key = (run_context(runtime).workspace, thread)
        if key not in self._workspaces:
            named = key[0] or self.workspace
            self._workspaces[key] = Path(named).absolute() if named else self.settings.workspace_of(thread or "default")
        return self._workspaces[key]

    def system_prompt(self, workspace: Path) -> str:
        """The system message's text."""
        return self._filled(self.spec.system_prompt, workspace)

    def _shown(self, workspace: Path) -> str:
        return str(self.settings.sandbox.shown_workspace or workspace)

    def next_step_prompt(self, workspace: Path) -> str:
        """The text that closes each request."""
        return self._filled(self.spec.next_step_prompt, workspace)

    def _filled(self, prompt: str, workspace: Path) -> str:
        if (prompt, workspace) not in self._prompts:
            self._prompts[prompt, workspace] = fill(spec_template(prompt), {"workspace": self._shown(workspace)})
        return self._prompts[prompt, workspace]

    def meter(self, progress: Progress, runtime: Runtime[RunContext]) -> Meter:
        """The limits in force. The newest are kept: every step of a run asks three times for the same."""
        context, raised = run_context(runtime), progress["raised"]
        for known_context, known_raised, known in self._meters:
            if known_context == context and known_raised == raised:
                return known
        found = meter(self.spec, self.settings, context, progress)
        self._meters[:] = [(context, raised, found)]
        return found

    async def is_contained(self) -> bool:
        """Whether a sandbox keeps what the tools run from all that is outside of the workspace; found out once."""
        if not self._contains:
            risky = [tool for tool in self.tools.values() if traits_of(tool).risk in RISKY]
            found = [getattr(tool, "sandbox", None) for tool in risky]
            wanted = {options for options in found if isinstance(options, SandboxOptions)}
            self._contains.append(all([await _contains(options) for options in wanted]))
        return self._contains[0]

    def is_terminating(self, tool: str) -> bool:
        """Whether a call of the tool ends the task."""
        return tool in self.spec.terminating_tools


def agent_path(config: RunnableConfig) -> Sequence[str]:
    """Names of the agents from the outermost to the one that runs."""
    return list(config.get("configurable", {}).get("agent_path", []))


async def _contains(options: SandboxOptions) -> bool:
    from ..tools.sandbox.choice import describe_backend  # it brings every backend along

    try:
        return (await describe_backend(options)).contained
    except UsageError:
        # Where the backend does not work no command runs: the call itself says why.
        return True
