"""What a run is given beside its input: the LangGraph `Runtime` context of every graph of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.runtime import Runtime

from .confirmation import ConfirmPolicy
from .inbox import InboxPlace, inbox_start
from .limits import Budget


@dataclass(frozen=True)
class RunContext:
    """Settings of one run. All have defaults, so that Studio and notebooks may leave them out."""

    model: str | None = None
    """Model name that overrides the one the graph was made with."""

    workspace: str | None = None
    """Folder of the run's files; None for `<CLEW_HOME>/workspaces/<thread>`."""

    root_task: str = ""
    """What the person asked, for an agent that was given its task by another one."""

    headless: bool = False
    """Nobody is there to answer: a limit ends the run, and a call that needs a person is rejected."""

    max_steps: int | None = None
    """Think-act cycles of all agents of the run together; goes over the spec's limit and the settings'."""

    max_calls: int | None = None
    """Model calls of all agents of the run together; goes over the settings' limit, as the next ones do."""

    max_tokens: int | None = None
    """Input and output tokens of all agents of the run together."""

    max_cost: float | None = None
    """Cost of all agents of the run together, in the currency of the price table."""

    max_seconds: float | None = None
    """Seconds of work; time spent waiting for a person does not count."""

    lease: Budget | None = None
    """What a child may use of the run's budget, with its own children; None for the outermost agent of a run."""

    level: int = 0
    """Delegations between the agent that a person talks to and this one."""

    iteration: int = 0
    """Think-act cycles that the run had taken when this agent began."""

    inbox: InboxPlace = field(default_factory=inbox_start)
    """How far the run had acted on the control inbox when this agent began."""

    fixed_limits: bool = False
    """The limits are a share that only whoever gave it can raise: meeting one ends the run, and nobody is asked."""

    confirm: ConfirmPolicy | None = None
    """Which calls a person is asked about; None takes the graph's policy."""

    approved: Sequence[str] = ()
    """Kinds of calls that a person approved for the rest of the run before this agent began."""

    withdrawn: Sequence[str] = ()
    """Tasks at agents elsewhere that were cancelled there when a person stopped the run: they are given anew."""


def run_context(runtime: Runtime[Any]) -> RunContext:
    """The run's context; the defaults where an embedding graph has a context of its own."""
    return runtime.context if isinstance(runtime.context, RunContext) else RunContext()


def can_ask(runtime: Runtime[Any]) -> bool:
    """Whether a question would be answered: somebody is there, and the run is on a thread that keeps the question."""
    execution = runtime.execution_info
    return not run_context(runtime).headless and execution is not None and execution.thread_id is not None
