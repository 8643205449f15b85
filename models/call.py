"""One call of a model, with the tries that it takes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from ..state.errors import ContextOverflow, ModelError
from .failure import Failure, failure_of
from .profile import model_name
from .rate_limit import OnWait, take_turn
from .retries import note_retry

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import LanguageModelInput

FINISH_KEYS = frozenset({"finish_reason", "stop_reason", "status", "incomplete_details"})
"""Keys of `response_metadata`, one of which a whole reply from an OpenAI-compatible server has."""

CUT_OFF = Failure("the reply was cut off before its end", may_pass=True)


async def call_model(
    model: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[BaseMessage],
    *,
    max_retries: int = 5,
    first_delay: float = 0.5,
    max_delay: float = 60.0,
    seconds: float | None = None,
    config: RunnableConfig | None = None,
    on_retry: Callable[[str, float], None] | None = None,
    on_wait: OnWait | None = None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> AIMessage:
    """Ask a model for a reply; it is streamed where a callback in `config` listens for tokens.

    Tried again: HTTP 408, 409, 429 and 5xx, timeouts, broken connections, and replies that were cut off.

    Args:
        model: a chat model of any provider, with or without bound tools.
        messages: the request.
        max_retries: further tries after the first.
        first_delay: seconds before the first retry; doubled for each further one, and spread by up to half.
        max_delay: most seconds between two tries, also where the provider's Retry-After asks for more.
        seconds: time that one try may take; None leaves it to the provider's client.
        config: LangChain's, for callbacks.
        on_retry: told the failure and the seconds of the wait.
        on_wait: told that the call waits for its turn under the model's rate limit, and for how many seconds.
        sleep: waits; for tests.
        jitter: a number in [0, 1) that spreads the waits; for tests.

    Raises:
        ContextOverflow: the request is longer than the model takes.
        ModelError: the provider refused, or failed in every try; the message has the provider's own words.
    """
    for attempt in range(max_retries + 1):
        turn = await take_turn(model, messages, on_wait)
        outcome = await _try(model, messages, seconds, config)
        if isinstance(outcome, AIMessage):
            if turn and outcome.usage_metadata:
                turn.tokens = outcome.usage_metadata["total_tokens"]
            return outcome
        failure, cause = outcome
        if not failure.may_pass or attempt == max_retries:
            raise _final_error(model, failure, tries=attempt + 1) from cause
        delay = _delay(failure, attempt, first_delay, max_delay, jitter())
        note_retry(failure.message)
        if on_retry is not None:
            on_retry(failure.message, delay)
        await sleep(delay)
    raise ValueError("max_retries must not be negative")


async def _try(
    model: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[BaseMessage],
    seconds: float | None,
    config: RunnableConfig | None,
) -> AIMessage | tuple[Failure, Exception | None]:
    try:
        async with asyncio.timeout(seconds):
            reply = await model.ainvoke(list(messages), config)
    except Exception as error:
        # Providers' exceptions share no base class; what is not a provider's failure goes on as itself.
        failure = failure_of(error)
        if failure is None:
            raise
        return failure, error
    return (CUT_OFF, None) if _is_cut_off(reply) else reply


def _is_cut_off(reply: AIMessage) -> bool:
    # A server that dies may close its stream in good order; then only the missing reason tells.
    metadata = reply.response_metadata
    return metadata.get("model_provider") == "openai" and not any(metadata.get(key) for key in FINISH_KEYS)


def _delay(failure: Failure, attempt: int, first_delay: float, max_delay: float, spread: float) -> float:
    if failure.retry_after is not None:
        return min(failure.retry_after, max_delay)
    return min(first_delay * 2.0**attempt, max_delay) * (0.5 + spread / 2)


def _final_error(model: object, failure: Failure, tries: int) -> ModelError:
    after = f", after {tries} tries" if tries > 1 else ""
    text = f"{model_name(model)}: {failure.message}{after}"
    return ContextOverflow(text) if failure.overflow else ModelError(text)
