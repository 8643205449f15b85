"""How a run ended, and what it used."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal["idle", "running", "waiting", "finished", "rejected", "stuck", "limit", "error", "cancelled"]
"""What a person sees of a thread. The seed's IDLE, RUNNING, FINISHED and ERROR are a view of it."""

ENDED: frozenset[Status] = frozenset({"finished", "rejected", "stuck", "limit", "error", "cancelled"})
"""Statuses of a task that is over."""


class Outcome(BaseModel):
    """The end of a task."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    success: bool
    """Whether the agent says that it did what was asked."""

    reason: str
    """Why it ended: `answer`, `terminate`, `max_steps`, `repeated_action`, … or an error's sentence."""

    answer: str = ""
    """What the agent has to say at the end."""

    outputs: dict[str, Any] = Field(default_factory=dict)
    """Named results that the agent gave to `terminate` or `reject`; plain JSON."""


class Usage(BaseModel):
    """What a run used of its models."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    llm_calls: int = 0
    """Calls that returned a reply."""

    input_tokens: int = 0
    """Tokens sent, cached ones included."""

    cached_tokens: int = 0
    """Tokens sent that the provider read from its prompt cache."""

    output_tokens: int = 0
    """Tokens received."""

    cost: float = 0.0
    """In the currency of the price table; 0 for a model without a price."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            llm_calls=self.llm_calls + other.llm_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
        )
