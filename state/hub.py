"""The state of the hub graph: one agent studies, one codes, one verifies, in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict
from typing_extensions import NotRequired, TypedDict

from .agent import Ending
from .channel import Growing
from .inbox import InboxPlace
from .messages import merge_messages
from .metrics import Counts
from .outcome import Outcome, Status

Role = Literal["study", "code", "verify"]
"""What an agent does in the hub; the node that runs it has that name."""

ROLES: tuple[Role, ...] = ("study", "code", "verify")


class Verdict(BaseModel):
    """The outputs of the verifying agent (the seed's VerifierAgent)."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)

    completed: bool
    """Whether all that the task asks for is done."""

    summary: str
    """What was checked and what it showed; if not completed, what is still to be done."""


class HubTurn(TypedDict):
    """How one turn of an agent ended. Plain JSON."""

    role: Role
    """What it was to do."""

    round: int
    """Round of coding and verifying, from 1; 0 for the study."""

    report: dict[str, Any]
    """A dump of its `DelegateReport`."""


def append_turns(turns: Sequence[HubTurn], writes: Sequence[list[HubTurn]]) -> list[HubTurn]:
    """Put the turns of a batch behind the others."""
    return [*turns, *chain.from_iterable(writes)]


class HubProgress(TypedDict):
    """The counters of the newest task. One channel, so that a node writes them once."""

    task: int
    """Place in `messages` of the message that set the task."""

    turns: int
    """Place in `turns` where those of the task begin."""

    next: Role | Literal["finish"]
    """The node that is to run next."""

    round: int
    """Round of coding and verifying, from 1; 0 before the first."""

    last_round: int
    """The round after which the hub gives up."""

    level: int
    """Delegations between the agent that a person talks to and the hub."""

    steps: int
    """Think-act cycles of all its agents."""

    iteration: int
    """Think-act cycles of all agents of the run: the seed's ITERATION."""

    inbox: InboxPlace
    """How far the control inbox was acted on; what is said is read by the agents."""

    raised: dict[str, float]
    """Limits that a person raised during the task, by kind."""

    seconds: float
    """Seconds of work until `clock`."""

    clock: float
    """Unix time up to which the work is counted."""

    approved: list[str]
    """Kinds of calls that a person approved for the rest of the run."""

    counts: Counts
    """Calls of tools, retries, and seconds by node."""

    usage: dict[str, Any]
    """A dump of the `Usage` of all its agents."""

    ending: Ending | None
    """Set by the node that decided to end the task."""


class HubState(TypedDict):
    """The channels of the hub graph."""

    messages: Annotated[list[AnyMessage], Growing(merge_messages)]
    """The task, and at the end the answer."""

    turns: Annotated[list[HubTurn], Growing(append_turns)]
    """Every turn of an agent, in order."""

    progress: NotRequired[HubProgress]
    """Counters of the newest task."""

    status: NotRequired[Status]
    """`running` from the study to the end."""

    outcome: NotRequired[Outcome | None]
    """How the newest task ended; None while it runs."""


class HubInput(TypedDict):
    """What a hub graph is invoked with."""

    messages: list[AnyMessage]
    """The task: normally one human message."""
