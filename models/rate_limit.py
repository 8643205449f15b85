"""A rate limit: requests and tokens a minute, shared by all agents of a process that use a model.

The limits stand in the model's profile, so that they hold wherever it is called. What was called lately is kept for one
event loop: nothing of another loop, or of a closed one, is ever waited for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from langchain_core.messages import BaseMessage

from .profile import model_name, requests_per_minute, tokens_per_minute
from .tokens import estimate_tokens

WINDOW = 60.0
"""Seconds that the limits are for."""

OnWait = Callable[[str, float], None]
"""Told why a call waits, and for how many seconds."""


class Rate(NamedTuple):
    """What may be called within a minute. None sets no bound."""

    requests: int | None = None
    """Requests, further tries included."""

    tokens: int | None = None
    """Input and output tokens together: by estimate before a call, as counted after it."""


@dataclass
class Call:
    """One call within the window."""

    time: float
    """Time of the clock at which it began."""

    tokens: int
    """Tokens that it takes."""


class RateLimit:
    """What was called lately of one model. Calls that have to wait get their turns in the order in which they came."""

    def __init__(
        self, clock: Callable[[], float] | None = None, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """Begin with nothing called.

        Args:
            clock: gives the time in seconds; None for the running event loop's.
            sleep: waits; for tests.
        """
        self._clock = clock or asyncio.get_running_loop().time
        self._sleep = sleep
        self._calls: deque[Call] = deque()
        self._turn = asyncio.Lock()

    async def take(self, rate: Rate, tokens: int, on_wait: Callable[[float], None]) -> Call:
        """Wait until a call of so many tokens is within the rate, and count it.

        A call that is larger than the whole rate goes when nothing else is in the window.

        Args:
            rate: the limits.
            tokens: an estimate of what the call takes; set `tokens` of the result when it is known.
            on_wait: told the seconds of each wait.
        """
        async with self._turn:
            while (delay := self._delay(rate, tokens)) > 0:
                on_wait(delay)
                await self._sleep(delay)
            call = Call(self._clock(), tokens)
            self._calls.append(call)
            return call

    def _delay(self, rate: Rate, tokens: int) -> float:
        now = self._clock()
        while self._calls and self._calls[0].time <= now - WINDOW:
            self._calls.popleft()
        count, taken, delay = len(self._calls), sum(call.tokens for call in self._calls), 0.0
        for call in self._calls:
            fits = rate.tokens is None or taken + tokens <= rate.tokens
            if fits and (rate.requests is None or count < rate.requests):
                break
            count, taken, delay = count - 1, taken - call.tokens, call.time + WINDOW - now
        return delay


_LIMITS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RateLimit]] = WeakKeyDictionary()


async def take_turn(model: Any, request: Sequence[BaseMessage], on_wait: OnWait | None = None) -> Call | None:
    """Wait until a call of a model is within its rate, and count it; None for a model without a rate.

    Args:
        model: a chat model, or what `bind` made of one.
        request: what it is to be sent; its tokens are estimated.
        on_wait: told why it waits, and the seconds.
    """
    rate = Rate(requests_per_minute(model), tokens_per_minute(model))
    if rate == Rate():
        return None
    name = model_name(model)

    def waiting(seconds: float) -> None:
        if on_wait is not None:
            on_wait(f"the rate limit of {name}", seconds)

    return await _rate_limit(name).take(rate, estimate_tokens(request), waiting)


def _rate_limit(name: str) -> RateLimit:
    limits = _LIMITS.setdefault(asyncio.get_running_loop(), {})
    if name not in limits:
        limits[name] = RateLimit()
    return limits[name]
