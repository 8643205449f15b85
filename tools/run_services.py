"""What a run lends the tools that it calls: its model, and a place for what must outlive the process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

SERVICES = "__run_services"
"""Entry of a call's `configurable` with its `RunServices`. LangGraph's server writes every entry into the checkpoints
but those that begin so."""

SAVED = "saved"
"""Key of an artifact under which a tool names the payloads that its session can be opened from again."""

Ask = Callable[[Sequence[BaseMessage]], Awaitable[str]]
"""From a request to the text of a model's answer."""


@dataclass(frozen=True)
class RunServices:
    """What the run has for one call of a tool."""

    ask: Ask | None = None
    """Asks the run's model; its use is counted with the run's. None where the caller has no model to lend."""

    put: Callable[[bytes | str], Awaitable[str]] | None = None
    """Keeps a payload with the thread, without its secrets, encrypted where the thread is, and gives its reference.

    In a text what looks like a secret goes too, in bytes the known ones alone. None where the run has no place for it.
    """

    get: Callable[[str], Awaitable[bytes]] | None = None
    """The payload of a reference."""

    saved: Mapping[str, Any] | None = None
    """What the newest artifact of the tool has under `saved`; None where there is none."""

    def entry(self) -> Mapping[str, Any]:
        """As `configurable` carries it."""
        return {SERVICES: self}


def run_services(config: RunnableConfig | None) -> RunServices:
    """The services of the call under `config`; none of them outside of a run."""
    services = (config or {}).get("configurable", {}).get(SERVICES)
    return services if isinstance(services, RunServices) else RunServices()


class Observation(NamedTuple):
    """What a tool's session shows at the moment."""

    text: str
    """For the model."""

    image: bytes | None = None
    """A picture of it, as JPEG."""


class Observable(ABC):
    """A tool with a session that can be looked at, and that comes back after a crash from what it saved."""

    # No protocol: every call asks whether its tool is one, and Python 3.11 takes 20 microseconds to compare members.
    @abstractmethod
    async def observe(self, config: RunnableConfig, *, picture: bool) -> Observation | None:
        """What the session shows, with a picture on request; None where there is none to look at.

        A session that the services have saved is opened again.

        Raises:
            ClewError: it cannot be looked at, or does not open again.
        """
