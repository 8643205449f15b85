"""What a run may use, and how what is left of it is divided among the parts that run at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from .outcome import Usage

LimitKind = Literal["steps", "calls", "tokens", "cost", "seconds"]

KINDS: tuple[LimitKind, ...] = ("steps", "calls", "tokens", "cost", "seconds")
"""Every kind of limit, in the order in which they are looked at. Settings and flags call them `max_<kind>`."""


class RunLimits(BaseModel):
    """What a run may use, all its agents together: the `[limits]` table. None sets no bound."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    max_steps: PositiveInt | None = None
    """Think-act cycles."""

    max_calls: PositiveInt | None = None
    """Model calls that returned a reply."""

    max_tokens: PositiveInt | None = None
    """Input and output tokens together. The call that passes the bound is the last one."""

    max_cost: PositiveFloat | None = None
    """In the currency of the price table. The call that passes the bound is the last one."""

    max_seconds: PositiveFloat | None = None
    """Seconds of work, looked at between two steps; time spent waiting for a person does not count."""


class Budget(BaseModel):
    """A bound of each kind. None sets none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    steps: NonNegativeInt | None = None
    """Think-act cycles."""

    calls: NonNegativeInt | None = None
    """Model calls that returned a reply."""

    tokens: NonNegativeInt | None = None
    """Input and output tokens together."""

    cost: NonNegativeFloat | None = None
    """In the currency of the price table."""

    seconds: NonNegativeFloat | None = None
    """Seconds of work, without those spent waiting for a person."""

    @classmethod
    def of(cls, source: Any) -> Budget:
        """The budget that an object sets with its attributes `max_steps`, `max_calls`, …; a missing one sets none."""
        return cls(**{kind: getattr(source, f"max_{kind}", None) for kind in KINDS})

    def after(self, steps: int, usage: Usage | None = None, seconds: float = 0.0) -> Budget:
        """What is left when that much was used; never less than nothing.

        The parent subtracts what its children used, not what they were given: the rest of a share comes back.
        """
        used = used_kinds(steps, usage or Usage(), seconds)
        return self._with({kind: None if bound is None else max(0, bound - used[kind]) for kind, bound in self})

    def within(self, other: Budget) -> Budget:
        """The tighter bound of each kind."""
        pairs = {kind: (bound, getattr(other, kind)) for kind, bound in self}
        return self._with({kind: min((b for b in pair if b is not None), default=None) for kind, pair in pairs.items()})

    def over(self, other: Budget) -> Budget:
        """This budget's bounds, and those of `other` where this one sets none."""
        return self._with({kind: getattr(other, kind) if bound is None else bound for kind, bound in self})

    def raised(self, to: Mapping[str, float]) -> Budget:
        """Every bound that `to` names lifted to it, where it is lower."""
        return self._with({kind: None if bound is None else max(bound, to.get(kind, 0)) for kind, bound in self})

    def spent_kind(self) -> LimitKind | None:
        """The first kind of which nothing is left."""
        return next((kind for kind in KINDS if getattr(self, kind) == 0), None)

    def kind_met(self, used: Mapping[str, float]) -> LimitKind | None:
        """The first kind of which all that this allows is used, or more."""
        bounds = ((kind, getattr(self, kind)) for kind in KINDS)
        return next((kind for kind, bound in bounds if bound is not None and used[kind] >= bound), None)

    def is_spent(self) -> bool:
        """Whether any bounded part of it is used up."""
        return self.spent_kind() is not None

    @staticmethod
    def _with(bounds: Mapping[str, Any]) -> Budget:
        # Validation would cost more than the rest of a step's look at its limits.
        return Budget.model_construct(**bounds)


class Lease(BaseModel):
    """A share of a run's budget, given to a child for as long as it runs. What it does not use comes back."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    share: Budget
    """What the child, with its own children, may use."""

    limit: Budget
    """The limit of the giver when it gave the share: a person may raise it before the child ends."""

    among: PositiveInt = 1
    """Children that were given a share at once."""

    def budget(self, limit: Budget) -> Budget:
        """What the child may use now that the giver's limit is `limit`: of a raise, each child gets an even part."""
        return Budget._with({kind: self._grown(kind, share, getattr(limit, kind)) for kind, share in self.share})

    def _grown(self, kind: str, share: float | None, limit: float | None) -> float | None:
        before: float | None = getattr(self.limit, kind)
        if share is None or before is None or limit is None or limit <= before:
            return share
        if kind == "seconds":
            return share + limit - before
        part = (limit - before) / self.among
        return share + (part if kind == "cost" else int(part))


def used_kinds(steps: int, usage: Usage, seconds: float = 0.0) -> dict[str, float]:
    """What was used, by kind of limit."""
    return {
        "steps": steps,
        "calls": usage.llm_calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost": usage.cost,
        "seconds": seconds,
    }


def give_leases(remaining: Budget, limit: Budget, caps: Sequence[Budget]) -> list[Lease]:
    """Leases for candidates that are to run at once, the first ones first; shorter than `caps` if there is too little.

    Args:
        remaining: what all of them may use together.
        limit: the giver's whole limit, of which that remains.
        caps: the most that each candidate may have by itself.
    """
    shares = split_budget(remaining, caps)
    return [Lease(share=share, limit=limit, among=len(shares)) for share in shares]


def split_budget(remaining: Budget, caps: Sequence[Budget]) -> list[Budget]:
    """Divide what is left among candidates that are to run at once, the first ones first.

    The shares of each kind are even, except that none is over its candidate's cap and that what a capped one leaves
    goes to the others. Their sum is at most what is left, and every share has at least one step, call and token.
    If there is too little, the list is shorter than `caps`: the last candidates wait until something comes back.
    Time passes for all of them at once, so each gets all that is left of it.

    Args:
        remaining: what all of them may use together.
        caps: the most that each candidate may have by itself.
    """
    bounds = [bound for bound in (remaining.steps, remaining.calls, remaining.tokens) if bound is not None]
    affordable = 0 if remaining.is_spent() else min([len(caps), *bounds])
    caps = caps[:affordable]
    steps = split(remaining.steps, [cap.steps for cap in caps])
    calls = split(remaining.calls, [cap.calls for cap in caps])
    tokens = split(remaining.tokens, [cap.tokens for cap in caps])
    costs = _split_cost(remaining.cost, [cap.cost for cap in caps])
    time = Budget(seconds=remaining.seconds)
    return [
        Budget(steps=s, calls=n, tokens=t, cost=c, seconds=time.within(Budget(seconds=cap.seconds)).seconds)
        for s, n, t, c, cap in zip(steps, calls, tokens, costs, caps, strict=True)
    ]


def split(remaining: int | None, caps: Sequence[int | None]) -> list[int | None]:
    """Divide a number evenly under caps; None is no bound. The shares are for the first candidates, as many as get one.

    Together they are `remaining`, or the sum of the caps if that is less.

    Args:
        remaining: what there is.
        caps: the most that each candidate may have, at least 1.
    """
    if remaining is None:
        return list(caps)
    caps = caps[:remaining]
    shares: list[int | None] = [None] * len(caps)
    left = remaining
    for waiting, place in _smallest_first(caps):
        cap = caps[place]
        share = left // waiting if cap is None else min(cap, left // waiting)
        shares[place] = share
        left -= share
    return shares


def _split_cost(remaining: float | None, caps: Sequence[float | None]) -> list[float | None]:
    if remaining is None:
        return list(caps)
    shares: list[float | None] = [None] * len(caps)
    left = remaining
    for waiting, place in _smallest_first(caps):
        cap = caps[place]
        share = left / waiting if cap is None else min(cap, left / waiting)
        shares[place] = share
        left = max(0.0, left - share)
    return shares


def _smallest_first(caps: Sequence[float | None]) -> list[tuple[int, int]]:
    # What a small cap leaves over is then still there for the larger ones; of equals the first is last, and gets the
    # odd one. Pairs of how many have no share yet, and the place of the next to get one.
    order = sorted(range(len(caps)), key=lambda place: (_bound(caps[place]), -place))
    return [(len(caps) - done, place) for done, place in enumerate(order)]


def _bound(cap: float | None) -> float:
    return math.inf if cap is None else cap
