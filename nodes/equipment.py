"""What the nodes of one agent work with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.runtime import Runtime

from ..models.tokens import tools_tokens
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

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel, LanguageModelInput

    BoundModel = Runnable[LanguageModelInput, AIMessage]


@dataclass(frozen=True)
class Equipment:
    """The spec, the model, the tools and the settings that the nodes of one agent share."""

    spec: AgentSpec
    """What the agent is."""

    tools: dict[str, BaseTool]
    """Its tools by name, in the order of the spec."""

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

    _bound: dict[int, BoundModel] = field(default_factory=dict)
    _workspaces: dict[tuple[str | None, str | None], Path] = field(default_factory=dict)
    _contains: dict[SandboxOptions, bool] = field(default_factory=dict)
    _meters: list[tuple[RunContext, dict[str, float], Meter]] = field(default_factory=list)

    @property
    def condensers(self) -> Sequence[Condenser]:
        """What makes the history fit: the spec's condensers, else the settings'."""
        return self.spec.condensers or self.settings.condense

    @cached_property
    def tools_tokens(self) -> int:
        """Tokens of the tools' schemas in a request, by estimate."""
        if self.spec.tool_choice == "none":
            return 0
        return tools_tokens([convert_to_openai_tool(tool) for tool in self.tools.values()])

    def bound(self, model: BaseChatModel) -> BoundModel:
        """The model with the agent's tools and tool choice."""
        if not self.tools or self.spec.tool_choice == "none":
            return model
        if id(model) not in self._bound:
            choice = "any" if self.spec.tool_choice == "required" else None
            self._bound[id(model)] = model.bind_tools(list(self.tools.values()), tool_choice=choice)
        return self._bound[id(model)]

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
        return fill(spec_template(self.spec.system_prompt), {"workspace": str(workspace)})

    def next_step_prompt(self, workspace: Path) -> str:
        """The text that closes each request."""
        return fill(spec_template(self.spec.next_step_prompt), {"workspace": str(workspace)})

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
        risky = [tool for tool in self.tools.values() if traits_of(tool).risk in RISKY]
        found = [getattr(tool, "sandbox", None) for tool in risky]
        wanted = {options for options in found if isinstance(options, SandboxOptions)}
        for options in wanted - self._contains.keys():
            self._contains[options] = await _contains(options)
        return all(self._contains[options] for options in wanted)

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
