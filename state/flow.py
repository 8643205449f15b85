"""The state of the plan graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from typing_extensions import NotRequired, TypedDict

from .agent import Ending
from .channel import SNAPSHOT_FREQUENCY, Growing, NoneUntilWritten
from .inbox import InboxPlace
from .messages import merge_messages
from .metrics import Counts
from .outcome import Outcome, Status
from .plan import Plan
from .plan_fold import merge_plan

RevisePolicy = Literal["on_failure", "always", "never"]
"""When the plan is looked at again: after a step was blocked, after every wave of steps, or not at all."""


def merge_plan_writes(plan: Plan | None, writes: Sequence[Any]) -> Plan | None:
    """Fold a batch of writes, each a plan, None or a list of operations, one after the other.

    Each write is folded by itself, so that it makes no difference how a replay batches them.
    """
    return reduce(merge_plan, writes, plan)


PlanChannel = Annotated[Plan | None, NoneUntilWritten(merge_plan_writes, snapshot_frequency=SNAPSHOT_FREQUENCY)]


class StepReport(TypedDict):
    """How one attempt at a step went. Plain JSON."""

    step: str
    """Id of the step."""

    agent: str
    """Name of the agent that tried."""

    status: Status
    """How the agent's run ended."""

    success: bool
    """Whether the agent says that the step is done."""

    reason: str
    """Why the run ended."""

    answer: str
    """What the agent had to say at the end."""

    steps: int
    """Think-act cycles that it took."""

    usage: dict[str, Any]
    """A dump of the `Usage` of the attempt."""

    approved: NotRequired[list[str]]
    """Kinds of calls that a person approved for the rest of the run."""

    seconds: float
    """Seconds of work that it took."""

    counts: NotRequired[Counts]
    """The agent's calls of tools, retries, and seconds by node."""

    orders: int
    """Number of the newest order of the control inbox that it obeyed."""

    operations: list[dict[str, Any]]
    """Changes of the plan that the agent asked for."""

    executions: list[dict[str, Any]]
    """Dumps of the `ToolExecution`s of the attempt."""


def append_reports(reports: Sequence[StepReport], writes: Sequence[list[StepReport]]) -> list[StepReport]:
    """Put the reports of a batch behind the others."""
    return [*reports, *chain.from_iterable(writes)]


class FlowProgress(TypedDict):
    """The counters of a plan run. One channel, so that a node writes them once."""

    task: int
    """Place in `messages` of the message that set the task."""

    steps: int
    """Think-act cycles of all agents together."""

    revisions: int
    """Revisions of the plan that were made."""

    reports: int
    """Reports that were recorded; those after them in the channel are not."""

    usage: dict[str, Any]
    """A dump of the `Usage` of the planner and all agents."""

    approved: NotRequired[list[str]]
    """Kinds of calls that a person approved for the rest of the run."""

    counts: NotRequired[Counts]
    """Calls of tools, retries, and seconds by node."""

    inbox: InboxPlace
    """How far the control inbox was acted on; what is said is read by the agents of the steps."""

    raised: dict[str, float]
    """Limits that a person raised during the run, by kind."""

    seconds: float
    """Seconds of work so far, as counted up to `clock`; time spent waiting for a person is not in it."""

    clock: float
    """Unix time up to which `seconds` are counted."""

    ending: Ending | None
    """Set by the node that decided to end the run."""


class FlowState(TypedDict):
    """The channels of the plan graph."""

    messages: Annotated[list[AnyMessage], Growing(merge_messages)]
    """The task, and at the end the answer."""

    plan: PlanChannel
    """The plan: the truth about it."""

    reports: Annotated[list[StepReport], Growing(append_reports)]
    """Every attempt at a step, in the order in which they were recorded."""

    progress: NotRequired[FlowProgress]
    """Counters of the run."""

    status: NotRequired[Status]
    """`running` from the plan's creation to the end."""

    outcome: NotRequired[Outcome | None]
    """How the run ended; None while it runs."""


class FlowInput(TypedDict):
    """What a plan graph is invoked with."""

    messages: list[AnyMessage]
    """The task: normally one human message."""


class StepTask(TypedDict):
    """What `execute_step` is sent: one step and what its agent must know. Plain JSON."""

    step: str
    """Id of the step."""

    text: str
    """What is to be done."""

    plan: dict[str, Any]
    """A dump of the plan without the results, for the agent's `planning` tool."""

    results: str
    """Results of the steps that this one builds on."""

    inbox: InboxPlace
    """How far the control inbox was acted on."""

    lease: dict[str, Any]
    """A dump of the attempt's `Lease` of the run's budget."""

    approved: NotRequired[list[str]]
    """Kinds of calls that a person approved for the rest of the run."""
