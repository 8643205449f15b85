from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from clew.models.usage import price_of, usage_of
from clew.state.outcome import Usage
from clew.state.settings import Price

REPLY = AIMessage(
    "x",
    usage_metadata={
        "input_tokens": 1000,
        "output_tokens": 100,
        "total_tokens": 1100,
        "input_token_details": {"cache_read": 600},
    },
)
PRICE = Price(input=2.0, cached_input=0.5, output=10.0)


def test_usage_is_that_of_the_metadata() -> None:
    assert usage_of(REPLY, "gpt-5", {}) == Usage(
        llm_calls=1, input_tokens=1000, cached_tokens=600, output_tokens=100, cost=0.0
    )


def test_the_cost_charges_cached_tokens_their_own_price() -> None:
    expected = (400 * 2.0 + 600 * 0.5 + 100 * 10.0) / 1_000_000
    assert usage_of(REPLY, "gpt-5", {"gpt-5": PRICE}).cost == pytest.approx(expected)


def test_without_a_cached_price_cached_tokens_cost_as_much_as_others() -> None:
    price = Price(input=2.0, output=10.0)
    assert usage_of(REPLY, "gpt-5", {"gpt-5": price}).cost == pytest.approx((1000 * 2.0 + 100 * 10.0) / 1_000_000)


def test_a_reply_without_metadata_is_a_call_of_no_tokens() -> None:
    assert usage_of(AIMessage("x"), "gpt-5", {"gpt-5": PRICE}) == Usage(llm_calls=1)


def test_a_reply_without_details_has_no_cached_tokens() -> None:
    reply = AIMessage("x", usage_metadata={"input_tokens": 5, "output_tokens": 1, "total_tokens": 6})
    assert usage_of(reply, "gpt-5", {}).cached_tokens == 0


def test_usages_add_up() -> None:
    one = usage_of(REPLY, "gpt-5", {"gpt-5": PRICE})
    assert (one + one).cost == pytest.approx(2 * one.cost)
    assert (one + one).llm_calls == 2


@pytest.mark.parametrize(
    ("name", "priced"),
    [
        ("gpt-5", "gpt-5"),
        ("openai:gpt-5", "gpt-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-50", None),
        ("gpt", None),
    ],
)
def test_a_price_is_found_by_name_or_family(name: str, priced: str | None) -> None:
    prices = {"gpt-5": Price(input=1.0), "gpt-5-mini": Price(input=0.1)}
    assert price_of(name, prices) is (prices[priced] if priced else None)
