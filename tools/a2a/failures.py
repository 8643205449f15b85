"""Why an agent elsewhere does not do what it is asked, in a sentence that names its address and the fix."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ssl import SSLError

import httpx
from a2a.client.errors import AgentCardResolutionError
from a2a.utils.errors import A2AError

from ...state.errors import ToolFailure

LOCKED = (401, 403)
"""Codes of HTTP for a key that is missing or wrong."""


@asynccontextmanager
async def told_failures(address: str) -> AsyncIterator[None]:
    """Make each failure of the SDK's client of the agent at this address a `ToolFailure`."""
    try:
        yield
    except (A2AError, httpx.HTTPError) as error:
        raise ToolFailure(failure_sentence(error, address)) from error


def failure_sentence(error: Exception, address: str) -> str:
    """What went wrong with the agent at this address, and what to do about it."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, SSLError):
            advice = "mend its certificate, or write http:// if it has none"
            return f"no safe connection to the agent at {address} ({cause.reason or 'TLS'}): {advice}"
    for cause in causes:
        if isinstance(cause, httpx.TimeoutException):
            return f"the agent at {address} gives no answer{_elsewhere(cause, address)}: see whether it works"
        if isinstance(cause, httpx.TransportError):
            advice = "see that it runs, and that the address is right"
            return f"the agent at {address} cannot be reached{_elsewhere(cause, address)}: {advice}"
        if isinstance(cause, httpx.HTTPStatusError):
            return _refused(cause.response.status_code, address)
    if isinstance(error, AgentCardResolutionError):
        return f"what is found at {address} is no agent's card: check the address"
    return f"the agent at {address} cannot do it: {error}"


def _refused(code: int, address: str) -> str:
    if code in LOCKED:
        advice = f'write it as `key` of a table [remotes.NAME] with url = "{address}" in clew.toml'
        return f"the agent at {address} asks for another key ({code}): {advice}"
    if code == httpx.codes.NOT_FOUND:
        return f"there is no agent at {address} ({code}): check the address"
    return f"the agent at {address} fails ({code}): try again later, or look into its log"


def _elsewhere(error: httpx.RequestError, address: str) -> str:
    """Where it was looked for, if its card names another place than the one at which the card is."""
    wanted, known = error.request.url, httpx.URL(address)
    if (wanted.scheme, wanted.host, wanted.port) == (known.scheme, known.host, known.port):
        return ""
    port = f":{wanted.port}" if wanted.port else ""
    return f" at {wanted.scheme}://{wanted.host}{port}, as its card says"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
