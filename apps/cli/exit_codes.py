"""Exit codes of the commands that run a thread."""

from __future__ import annotations

FINISHED = 0
ERROR = 1
USAGE = 2
WAITING = 3
LIMIT = 4
STUCK = 5
REJECTED = 6
INTERRUPTED = 130

OF_STATUS = {
    "finished": FINISHED,
    "error": ERROR,
    "cancelled": ERROR,
    "waiting": WAITING,
    "limit": LIMIT,
    "stuck": STUCK,
    "rejected": REJECTED,
}


def exit_code(status: str, success: bool) -> int:
    """The exit code of a run that ended so: a task that the agent gave up is an error."""
    return ERROR if status == "finished" and not success else OF_STATUS.get(status, ERROR)
