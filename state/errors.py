"""The error family.

::

    ClewError                   exit code 1
    ├── UsageError              a bad argument, name, file or setting; exit code 2
    ├── ModelError              a model call failed for good
    │   ├── ContextOverflow     the request is longer than the model takes
    │   └── ScriptError         a script or a recording has no reply for this request
    ├── ToolFailure             goes back to the model as an error observation
    │   └── PlanError           a plan command that would break the plan
    └── CheckpointError         the database cannot be read or written
        ├── ThreadBusy          another process is running the thread
        └── ThreadUnreadable    what is stored of one thread cannot be made out; others are not concerned

Every message is one sentence that names what is wrong and how to mend it.
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import ToolException


class ClewError(Exception):
    """Base of every error that clew raises on purpose."""

    exit_code = 1


class UsageError(ClewError):
    """A bad argument, name, file or setting; the message names the fix."""

    exit_code = 2


class ModelError(ClewError):
    """A model call failed for good: after its retries, or in a way that no retry mends."""


class ContextOverflow(ModelError):
    """The provider refused the request because it is longer than the model's context."""


class ScriptError(ModelError):
    """A scripted or replayed model has no reply for the request it got."""


class ToolFailure(ClewError, ToolException):
    """A tool could not do what was asked; the model sees the message and may try otherwise."""

    artifact: dict[str, Any] | None = None
    """What the caller learns beside the message. Plain JSON."""


class PlanError(ToolFailure):
    """A plan command that would break the plan: a cycle, an unknown step, an empty plan."""


class CheckpointError(ClewError):
    """The database of checkpoints cannot be read or written."""


class ThreadBusy(CheckpointError):
    """Another live process is running the thread."""


class ThreadUnreadable(CheckpointError):
    """What is stored of one thread cannot be made out: it is damaged, or of a graph that is not known here."""
