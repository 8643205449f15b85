"""How what is left of a run's budget is divided among the parts that run at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt

from .outcome import Usage


class Budget(BaseModel):
    """What a run may use. None sets no bound."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    steps: NonNegativeInt | None = None
    """Think-act cycles."""

    tokens: NonNegativeInt | None = None
    """Input and output tokens together."""

    cost: NonNegativeFloat | None = None
    """In the currency of the price table."""

    def after(self, steps: int, usage: Usage | None = None) -> Budget:
        """What is left when that much was used; never less than nothing.

        The parent subtracts what its children used, not what they were given: the rest of a share comes back.
        """
        usage = usage or Usage()
        return Budget(
            steps=_left(self.steps, steps),
            tokens=_left(self.tokens, usage.input_tokens + usage.output_tokens),
            cost=None if self.cost is None else max(0.0, self.cost - usage.cost),
        )

    def is_spent(self) -> bool:
        """Whether any bounded part of it is used up."""
        return 0 in (self.steps, self.tokens, self.cost)


def split_budget(remaining: Budget, caps: Sequence[Budget]) -> list[Budget]:
    """Divide what is left among candidates that are to run at once, the first ones first.

    The shares of each kind are even, except that none is over its candidate's cap and that what a capped one leaves
    goes to the others. Their sum is at most what is left, and every share has at least one step and one token.
    If there is too little, the list is shorter than `caps`: the last candidates wait until something comes back.

    Args:
        remaining: what all of them may use together.
        caps: the most that each candidate may have by itself.
    """
    bounds = [bound for bound in (remaining.steps, remaining.tokens) if bound is not None]
    affordable = 0 if remaining.is_spent() else min([len(caps), *bounds])
    caps = caps[:affordable]
    steps = split(remaining.steps, [cap.steps for cap in caps])
    tokens = split(remaining.tokens, [cap.tokens for cap in caps])
    costs = _split_cost(remaining.cost, [cap.cost for cap in caps])
    return [Budget(steps=s, tokens=t, cost=c) for s, t, c in zip(steps, tokens, costs, strict=True)]


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


def _left(bound: int | None, used: int) -> int | None:
    return None if bound is None else max(0, bound - used)
