"""Requests and tokens a minute, on a clock that the tests turn."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from clew.models.call import call_model
from clew.models.profile import requests_per_minute, with_profile
from clew.models.rate_limit import WINDOW, Rate, RateLimit
from clew.models.scripted import ScriptedModel
from clew.state.settings import ModelSettings


class Clock:
    def __init__(self):
        self.now = 0.0
        self.waits = []

    def time(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds

    def limit(self):
        return RateLimit(self.time, self.sleep)

    async def take(self, limit, rate, tokens=1):
        return await limit.take(rate, tokens, self.waits.append)


async def test_requests_beyond_the_rate_wait_until_the_oldest_is_a_minute_old():
    clock = Clock()
    limit = clock.limit()
    for _ in range(3):
        await clock.take(limit, Rate(requests=3))
        clock.now += 10
    assert clock.waits == []
    await clock.take(limit, Rate(requests=3))
    assert (clock.waits, clock.now) == ([30.0], 60.0)


async def test_tokens_are_counted_as_they_turn_out():
    clock = Clock()
    limit = clock.limit()
    call = await clock.take(limit, Rate(tokens=100), 90)
    call.tokens = 20
    await clock.take(limit, Rate(tokens=100), 80)
    assert clock.waits == []
    await clock.take(limit, Rate(tokens=100), 1)
    assert clock.waits == [WINDOW]


async def test_a_call_larger_than_the_rate_goes_alone():
    clock = Clock()
    limit = clock.limit()
    await clock.take(limit, Rate(tokens=100), 500)
    await clock.take(limit, Rate(tokens=100), 10)
    assert clock.waits == [WINDOW]


@given(
    st.integers(1, 4),
    st.integers(10, 60),
    st.lists(st.tuples(st.floats(0, 40), st.integers(1, 50)), max_size=20),
)
def test_no_minute_ever_has_more_than_the_rate(requests, tokens, calls):
    async def run():
        clock, taken = Clock(), []
        limit = clock.limit()
        for pause, size in calls:
            clock.now += pause
            await clock.take(limit, Rate(requests, tokens), size)
            taken.append((clock.now, size))
        for place, (start, _) in enumerate(taken):
            window = [size for at, size in taken[place:] if at < start + WINDOW - 1e-6]
            assert len(window) <= requests
            assert sum(window) <= tokens or len(window) == 1

    asyncio.run(run())


async def test_agents_of_a_process_share_the_rate_of_a_model_and_hear_that_they_wait():
    settings = ModelSettings(requests_per_minute=2)
    waits, waiting = [], asyncio.Event()
    models = [with_profile(ScriptedModel(replies=["hello"], model_name="shared"), settings) for _ in range(3)]
    assert requests_per_minute(models[0]) == 2

    def on_wait(why, seconds):
        waits.append((why, seconds))
        waiting.set()

    async def ask(model):
        await call_model(model, [HumanMessage("hi")], on_wait=on_wait)

    await asyncio.gather(*map(ask, models[:2]))
    third = asyncio.create_task(ask(models[2]))
    async with asyncio.timeout(20):
        await waiting.wait()
    third.cancel()
    ((why, seconds),) = waits
    assert why == "the rate limit of shared"
    assert 0 < seconds <= WINDOW


def test_another_event_loop_begins_anew():
    model = with_profile(ScriptedModel(replies=["hello"], model_name="anew"), ModelSettings(requests_per_minute=1))

    async def ask():
        async with asyncio.timeout(20):
            return await call_model(model, [HumanMessage("hi")])

    assert [asyncio.run(ask()).text for _ in range(2)] == ["hello", "hello"]


@pytest.mark.parametrize("wrong", [{"requests_per_minute": 0}, {"tokens_per_minute": -1}])
def test_a_rate_is_at_least_one(wrong):
    with pytest.raises(ValueError, match="greater than 0"):
        ModelSettings(**wrong)
