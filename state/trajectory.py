"""A run as a file: its agent, and its events from the task to the end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, ValidationError

from .errors import UsageError
from .events import (
    Action,
    AddTaskAction,
    MessageAction,
    Observation,
    event_from_dict,
    replies_of,
)
from .spec import AgentSpec


def _event(value: Any) -> Action | Observation:
    try:
        return value if isinstance(value, Action | Observation) else event_from_dict(value)
    except UsageError as error:  # pydantic adds the event's place to a ValueError alone
        raise ValueError(str(error)) from error


def _data(event: Action | Observation) -> dict[str, Any]:
    return event.to_dict()


EventItem = Annotated[Action | Observation, PlainValidator(_event), PlainSerializer(_data)]
"""An event in its `to_dict()` form, where it is JSON."""


class Run(BaseModel):
    """What one agent did, and what came of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    node: str = ""
    """The node that ran it, after those around it; empty for the outermost agent."""

    events: list[EventItem]
    """Actions and observations, in order."""

    def tasks(self) -> list[Action | Observation]:
        """The tasks that the person set, in order."""
        return [event for event in self.events if _is_task(event)]

    def replies(self) -> list[AIMessage]:
        """The replies with which the agent asked for its actions; calls without an id get one by their place.

        Raises:
            UsageError: an action says less than a call needs.
        """
        return replies_of(self._agent_actions())

    def replies_before(self, task: int) -> int:
        """How many replies came before the task of that number, from 0."""
        said = [place for place, event in enumerate(self.events) if _is_task(event)][task]
        return len(replies_of(event for event in self._agent_actions() if event.id < said))

    def observations(self) -> dict[str, Observation]:
        """What came of each call, by its id."""
        calls = {event.id: event.call_id for event in self._agent_actions()}
        found = [event for event in self.events if isinstance(event, Observation)]
        return {event.call_id or calls.get(event.cause, ""): event for event in found}

    def _agent_actions(self) -> list[Action]:
        actions = []
        for place, event in enumerate(self.events):
            if isinstance(event, Action) and event.source == "agent":
                if isinstance(event, AddTaskAction):
                    raise UsageError(f"event {place}: add_task needs the plan of its run; give the call of `planning`")
                update = {"id": place, "call_id": event.call_id or (f"call_{place}" if event.tool else "")}
                actions.append(event.model_copy(update=update))
        return actions


class Trajectory(Run):
    """What was done on a thread, and what came of it."""

    format: Literal["clew trajectory 1"] = "clew trajectory 1"
    """Kind and version of the file."""

    graph: str = "agent"
    """Kind of the graph: `agent`, `plan` or `hub`; one of an agent can be done again."""

    thread: str = ""
    """Id of the thread that it is from."""

    agent: AgentSpec | str = "manus"
    """The agent, or the name of a built-in one."""

    model: str | None = None
    """Name of the model that decided."""

    workspace: str | None = None
    """Folder of the run's files."""

    status: str = ""
    """Status of the thread."""

    reason: str = ""
    """Why it ended, or what it waits for."""

    children: list[Run] = Field(default_factory=list)
    """Runs of the agents that were given a part of the task, in the order in which they began."""


def read_trajectory(path: Path) -> Trajectory:
    """Read a file that `clew export --trajectory` wrote, or one written by hand.

    Raises:
        UsageError: the file cannot be read, or is no trajectory; the message names the event.
    """
    try:
        trajectory = Trajectory.model_validate(json.loads(path.read_text(encoding="utf-8")))
        trajectory.replies()
    except OSError as error:
        raise UsageError(f"trajectory {path} cannot be read ({error.strerror}): check the path") from error
    except ValidationError as error:
        raise UsageError(f"trajectory {path} is malformed, {_first(error)}") from error
    except UsageError as error:
        raise UsageError(f"trajectory {path}: {error}") from error
    except ValueError as error:
        raise UsageError(f"trajectory {path} is no JSON: {error}") from error
    if not trajectory.tasks():
        raise UsageError(f"trajectory {path} has no task: begin it with a message of the user")
    return trajectory


def write_trajectory(trajectory: Trajectory, path: Path) -> int:
    """Write a trajectory to a new file, for this user alone, and return its bytes.

    Raises:
        UsageError: the file exists or cannot be written.
    """
    data: dict[str, Any] = trajectory.model_dump(mode="json")
    text = json.dumps(data, indent=1) + "\n"
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            return file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): give a new file elsewhere") from error


def _is_task(event: Action | Observation) -> bool:
    return isinstance(event, MessageAction) and event.source == "user" and not event.in_passing


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'it'}: {problem['msg']}"
