"""The state of the agent graph."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage, ToolCall
from langgraph.channels.ephemeral_value import EphemeralValue
from typing_extensions import NotRequired, TypedDict

from .channel import SNAPSHOT_FREQUENCY, Growing, NoneUntilWritten, newest
from .condensation import Condensation
from .confirmation import PendingCall
from .inbox import InboxPlace
from .messages import merge_messages
from .metrics import Counts
from .outcome import Outcome, Status


class Ending(TypedDict):
    """What `terminate` is to write: the status and the fields of the `Outcome`."""

    status: Status
    """The status that the thread gets."""

    success: bool
    """As in `Outcome`."""

    reason: str
    """As in `Outcome`."""

    answer: str
    """As in `Outcome`."""

    outputs: NotRequired[dict[str, Any]]
    """As in `Outcome`."""


class Progress(TypedDict):
    """The counters of the newest task. One channel, so that a step writes them once."""

    task: int
    """Place in `messages` of the message that set the task; it is in every request."""

    steps: int
    """Think-act cycles begun: the seed's LOCAL_ITERATION."""

    level: int
    """Delegations between the agent that a person talks to and this one: the seed's DELEGATE_LEVEL."""

    iteration: int
    """Think-act cycles that all agents of the run had begun, as far as this one knows: the seed's ITERATION."""

    delegated: int
    """Place in `messages` up to which what delegates took and used is counted in."""

    raised: dict[str, float]
    """Limits that a person raised during the task, by kind; with `lent_` before it, the lease of a child."""

    inbox: InboxPlace
    """How far the control inbox was acted on."""

    seconds: float
    """Seconds of work so far, as counted up to `clock`; time spent waiting for a person is not in it."""

    clock: float
    """Unix time up to which `seconds` are counted."""

    cut: int
    """Place in `messages` where the part that is sent begins."""

    watch: int
    """Place in `messages` where the search for loops begins."""

    nudge: str
    """Advice put before the next-step prompt, after a loop was seen once."""

    calibration: float
    """Tokens that the provider counted for one token of our estimate."""

    usage: dict[str, Any]
    """A dump of `Usage` for the newest task."""

    counts: NotRequired[Counts]
    """Calls of tools, retries, and seconds by node."""

    approved: NotRequired[list[str]]
    """Kinds of calls that a person approved for the rest of the task."""

    ending: Ending | None
    """Set by the node that decided to end the task."""


class AgentState(TypedDict):
    """The channels of the agent graph."""

    messages: Annotated[list[AnyMessage], Growing(merge_messages)]
    """The whole history of the thread. What a request carries is a view of it."""

    progress: NotRequired[Progress]
    """Counters of the newest task."""

    condensed: Annotated[Condensation | None, NoneUntilWritten(newest, snapshot_frequency=SNAPSHOT_FREQUENCY)]
    """What the condensers have settled of what is sent; stored when it changes, and not again with each step."""

    status: NotRequired[Status]
    """`running` from the first step of a task to its end."""

    outcome: NotRequired[Outcome | None]
    """How the newest task ended; None while it runs."""

    context: Annotated[list[AnyMessage], EphemeralValue]
    """What a context node has for the next request: it is sent, and gone after that."""

    pending: Annotated[list[PendingCall], EphemeralValue]
    """What `assess` found for `confirm` to ask about; gone after that."""


class AgentInput(TypedDict):
    """What an agent graph is invoked with."""

    messages: list[AnyMessage]
    """The task: normally one human message, text or text with images."""


class ToolTask(TypedDict):
    """What `act` is sent: one tool call."""

    call: ToolCall
    """The call, with an id that no other call of the thread has."""

    root: NotRequired[str]
    """For a delegation: what the person asked."""

    task: str
    """Id of the message that set the task."""

    inbox: NotRequired[InboxPlace]
    """How far the control inbox was acted on: a stop after that cancels the call."""

    iteration: NotRequired[int]
    """For a delegation: the run's ITERATION at its start."""

    lease: NotRequired[dict[str, Any]]
    """For a delegation: a dump of the `Lease` of the run's budget."""

    approved: NotRequired[list[str]]
    """For a delegation: kinds of calls that a person approved for the rest of the run."""

    plan: NotRequired[dict[str, Any] | None]
    """For a call of `planning`: a dump of the thread's plan, None where there is none."""

    outputs: NotRequired[list[str]]
    """Copies of long outputs that the call may look for, relative to the workspace."""

    saved: NotRequired[dict[str, Any] | None]
    """For a tool whose session comes back after a crash: the references of what it saved last."""
