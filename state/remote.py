"""The state of a task that an agent elsewhere does."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from typing_extensions import NotRequired, TypedDict

from .channel import SNAPSHOT_FREQUENCY, Growing, NoneUntilWritten, newest
from .inbox import InboxPlace
from .messages import merge_messages
from .outcome import Outcome, Status

AT_WORK = ("submitted", "working")
"""States in which an agent works on a task."""

OPEN = (*AT_WORK, "input_required")
"""States in which a task has not ended."""


class RemoteTask(TypedDict):
    """A task of ours at a remote agent, as it stood last."""

    id: str
    """Id of the task there."""

    context: str
    """Id of the conversation there; the next task of the thread goes into it too."""

    state: str
    """State there, such as `working` or `input_required`."""

    said: str
    """What the agent says: its answer, its question, or why it failed."""

    agent: NotRequired[str]
    """Address of the agent."""

    asked: NotRequired[str]
    """Id of the message that set the task."""


class RemoteProgress(TypedDict):
    """Counters of the newest task, as far as they are known of an agent elsewhere."""

    steps: int
    """1: what it takes there is not told."""

    iteration: int
    """Think-act cycles of the run of ours, the task as one of them."""

    usage: dict[str, Any]
    """A dump of `Usage`: nothing was used here."""

    inbox: NotRequired[InboxPlace]
    """How far the control inbox was acted on."""


class RemoteState(TypedDict):
    """The channels of the graph of a remote agent."""

    messages: Annotated[list[AnyMessage], Growing(merge_messages)]
    """The tasks, the answers to its questions, and what it said."""

    remote: NotRequired[Annotated[RemoteTask, NoneUntilWritten(newest, snapshot_frequency=SNAPSHOT_FREQUENCY)]]
    """The newest task at the agent; stored when it changes, and not again with each step."""

    progress: NotRequired[RemoteProgress]
    """Counters of the newest task."""

    status: NotRequired[Status]
    """`running` from the beginning of a task to its end."""

    outcome: NotRequired[Outcome | None]
    """How the newest task ended; None while it runs."""
