"""What a thread remembers beside its checkpoints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import ConfigDict, Field

from .confirmation import ConfirmPolicy
from .errors import UsageError
from .limits import RunLimits
from .spec import AgentSpec


class ThreadRecord(RunLimits):
    """How a thread was started, so that it can be resumed with nothing but its id, and the limits of its runs."""

    model_config = ConfigDict(extra="ignore")

    thread: str
    """Id of the thread."""

    graph: str = "agent"
    """Which graph runs on it: `agent`, `plan` or `hub`."""

    agents: list[AgentSpec] = Field(default_factory=list)
    """Specs of the agents, the primary one first."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Further arguments of the graph, plain JSON."""

    task: str = ""
    """The newest task, in the person's words."""

    model: str | None = None
    """Model name as `load_model` takes it."""

    workspace: str | None = None
    """Folder of the run's files, absolute."""

    headless: bool = False
    """Whether the run was started with nobody to answer."""

    confirm: ConfirmPolicy | None = None
    """Which calls a person is asked about; None takes the settings' policy."""

    paused: bool = False
    """Whether a person stopped the run, or set it where it stands: no process died."""

    withdrawn: list[str] = Field(default_factory=list)
    """Tasks at agents elsewhere that were cancelled there when a person stopped the run."""

    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    """When the thread began."""

    updated: datetime = Field(default_factory=lambda: datetime.now(UTC))
    """When a run on it last began or ended."""

    @property
    def primary(self) -> AgentSpec:
        """The primary agent.

        Raises:
            UsageError: the record names no agent.
        """
        if not self.agents:
            raise UsageError(
                f"thread {self.thread} has no agent in its record, so it can be looked at and not run: run it with the"
                " program that made it, or begin a thread with `clew run`"
            )
        return self.agents[0]
