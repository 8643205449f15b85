"""What an agent learns of a task that it gave to another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from langchain_core.messages import AnyMessage, ToolMessage
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from .outcome import Status, Usage

INPUTS = "inputs"
"""Key of a task message's `additional_kwargs` with the values that an agent was given for it."""


class DelegateReport(BaseModel):
    """How a delegated task ended: the artifact of the one observation that the delegating agent gets."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: Literal["delegate"] = "delegate"
    """Tells it from the artifacts of tools."""

    agent: str
    """Name of the agent that had the task."""

    level: NonNegativeInt
    """DELEGATE_LEVEL at which it worked, 1 for an agent whose delegator a person talks to."""

    status: Status
    """How its run ended."""

    success: bool
    """Whether it says that the task is done."""

    reason: str
    """Why it ended: as in `Outcome`."""

    answer: str
    """What it had to say at the end."""

    outputs: dict[str, Any]
    """Named results, as it gave them to `terminate` or `reject`; plain JSON."""

    left: str
    """What it had when it ended without an answer of its own: its last words and last results."""

    iterations: NonNegativeInt
    """Think-act cycles that it took, those of agents that it delegated to included."""

    usage: Usage
    """What all of them used of their models."""

    orders: int = 0
    """Number of the newest order of the control inbox that it obeyed."""

    seconds: float = 0.0
    """Seconds of work that it took."""

    approved: list[str] = Field(default_factory=list)
    """Kinds of calls that a person approved for the rest of the run."""

    counts: dict[str, Any] = Field(default_factory=dict)
    """Its `Counts`: tool calls, retries, and seconds by node."""


def delegate_reports(messages: Sequence[AnyMessage]) -> Iterator[DelegateReport]:
    """The reports among the messages, in order."""
    yield from (report for message in messages if (report := delegate_report_of(message)))


def delegate_report_of(message: AnyMessage) -> DelegateReport | None:
    """The report that a message carries, if it does."""
    artifact = message.artifact if isinstance(message, ToolMessage) else None
    if isinstance(artifact, dict) and artifact.get("kind") == "delegate" and "iterations" in artifact:
        return DelegateReport.model_validate(artifact)
    return None
