"""Events of a run beside its steps: what was said, what is waited for, advice. `stream` has them in its union."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class StreamEvent(BaseModel):
    """One thing that a run tells the outside."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SaidEvent(StreamEvent):
    """An agent was given what a person said while it worked."""

    event: Literal["said"] = "said"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    text: str
    """What was said."""


class WaitEvent(StreamEvent):
    """A model call waits: for its turn under the rate limit, or for another try after a failure that may pass."""

    event: Literal["wait"] = "wait"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    message: str
    """What it waits for, or the failure."""

    seconds: float
    """How long it waits."""


class ProgressEvent(StreamEvent):
    """A tool tells how far a call is."""

    event: Literal["progress"] = "progress"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    tool: str
    """Name of the tool."""

    done: float
    """How much is done, in a unit of the tool's own."""

    total: float | None
    """Of how much; None where the tool does not know."""

    message: str
    """What it does now; may be empty."""


class NoticeEvent(StreamEvent):
    """Something that a person should know, and that the run cannot mend."""

    event: Literal["notice"] = "notice"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    text: str
    """What it is."""


class NudgeEvent(StreamEvent):
    """The agent repeats itself and was told so."""

    event: Literal["nudge"] = "nudge"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    text: str
    """The advice that goes before the next-step prompt."""
