"""What a reply used, in tokens and money."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.messages import AIMessage

from ..state.outcome import Usage
from ..state.settings import Price

PRICED_TOKENS = 1_000_000
"""Tokens that a `Price` is for."""


def usage_of(message: AIMessage, model_name: str, prices: Mapping[str, Price]) -> Usage:
    """Usage of the one call that gave `message`, from its `usage_metadata`.

    Args:
        message: a model's reply; without usage metadata it counts as a call of no tokens.
        model_name: name as `model_name()` gives it, for the price.
        prices: the price table of the settings; a model that it lacks costs 0.
    """
    counted = message.usage_metadata
    if counted is None:
        return Usage(llm_calls=1)
    cached = (counted.get("input_token_details") or {}).get("cache_read") or 0
    usage = Usage(
        llm_calls=1,
        input_tokens=counted["input_tokens"],
        cached_tokens=min(cached, counted["input_tokens"]),
        output_tokens=counted["output_tokens"],
    )
    price = price_of(model_name, prices)
    return usage.model_copy(update={"cost": _cost(usage, price)}) if price else usage


def price_of(model_name: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model: by its name, by its name without `provider:`, or by the longest priced name that it begins
    with before a hyphen or colon (`gpt-5` prices `gpt-5-2025-08-07`; a table that names `gpt-5-mini` prices that).
    """
    bare = model_name.partition(":")[2] or model_name
    for name in (model_name, bare):
        if name in prices:
            return prices[name]
    families = [name for name in prices if bare.startswith((f"{name}-", f"{name}:"))]
    return prices[max(families, key=len)] if families else None


def _cost(usage: Usage, price: Price) -> float:
    cached_price = price.input if price.cached_input is None else price.cached_input
    return (
        (usage.input_tokens - usage.cached_tokens) * price.input
        + usage.cached_tokens * cached_price
        + usage.output_tokens * price.output
    ) / PRICED_TOKENS
