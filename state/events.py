"""Typed events: what was done in a history and what came of it (seed ``agent-hub.md``, Actions and Observations).

`history_events` derives them from messages, which are the truth; `to_dict()`, `action_from_dict` and
`observation_from_dict` carry them as JSON, and `to_memory()` tells them to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .action import HEAD as ACTION_HEAD
from .action import Action
from .actions import (
    AgentDelegateAction,
    AgentFinishAction,
    AgentRejectAction,
    BrowseURLAction,
    CmdRunAction,
    FileEditAction,
    FileReadAction,
    FileWriteAction,
    IPythonRunCellAction,
    MessageAction,
    ToolCallAction,
)
from .errors import UsageError
from .event import HistoryEvent, read_as
from .event_messages import (
    ACTIONS,
    OBSERVATIONS,
    action_of_call,
    call_of_action,
    history_events,
    observation_of,
    replies_of,
)
from .observations import HEAD as OBSERVATION_HEAD
from .observations import (
    AgentDelegateObservation,
    BrowserOutputObservation,
    CmdOutputObservation,
    ErrorObservation,
    FileReadObservation,
    FileWriteObservation,
    Observation,
    SuccessObservation,
)
from .task_actions import AddTaskAction, ModifyTaskAction, TaskState

__all__ = [
    "ACTIONS",
    "OBSERVATIONS",
    "Action",
    "AddTaskAction",
    "AgentDelegateAction",
    "AgentDelegateObservation",
    "AgentFinishAction",
    "AgentRejectAction",
    "BrowseURLAction",
    "BrowserOutputObservation",
    "CmdOutputObservation",
    "CmdRunAction",
    "ErrorObservation",
    "FileEditAction",
    "FileReadAction",
    "FileReadObservation",
    "FileWriteAction",
    "FileWriteObservation",
    "HistoryEvent",
    "IPythonRunCellAction",
    "MessageAction",
    "ModifyTaskAction",
    "Observation",
    "SuccessObservation",
    "TaskState",
    "ToolCallAction",
    "action_from_dict",
    "action_of_call",
    "call_of_action",
    "event_from_dict",
    "history_events",
    "observation_from_dict",
    "observation_of",
    "replies_of",
]


def action_from_dict(data: Any) -> Action:
    """The action of a `to_dict()` form; its `message` is made anew.

    Raises:
        UsageError: there is no such action, or a key or a value of it is wrong.
    """
    kinds = {kind.model_fields["action"].default: kind for kind in ACTIONS}
    return read_as(kinds, "action", ACTION_HEAD, "args", data)


def observation_from_dict(data: Any) -> Observation:
    """The observation of a `to_dict()` form; its `message` is made anew.

    Raises:
        UsageError: there is no such observation, or a key or a value of it is wrong.
    """
    kinds = {kind.model_fields["observation"].default: kind for kind in OBSERVATIONS}
    return read_as(kinds, "observation", OBSERVATION_HEAD, "extras", data)


def event_from_dict(data: Any) -> Action | Observation:
    """The action or observation of a `to_dict()` form.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(data, Mapping) and ("action" in data) != ("observation" in data):
        return action_from_dict(data) if "action" in data else observation_from_dict(data)
    raise UsageError("no event: give an object with either the key `action` or the key `observation`")
