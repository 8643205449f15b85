"""Requests to engines that answer in JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import httpx

from ....state.errors import ToolFailure
from ..transport import certificates
from .protocol import SearchResult

SECONDS = 15.0
"""Bound of each wait for the network."""

ADVICE = {401: "check the key", 403: "check the key and what it may do", 429: "its limit is reached, try later"}
"""What to do about a status."""


async def request_json(
    method: str,
    url: str,
    *,
    params: Mapping[str, str | int] | None = None,
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON object that an engine answers with. Redirects are not followed: they would carry the key elsewhere.

    Raises:
        ToolFailure: it cannot be reached, refuses, or answers with something else. Tells neither key nor query.
    """
    context = await asyncio.to_thread(certificates)
    try:
        async with httpx.AsyncClient(verify=context, timeout=SECONDS) as client:
            response = await client.request(method, url, params=params, json=body, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ToolFailure(f"cannot be reached ({type(error).__name__})") from error
    if response.status_code != httpx.codes.OK:
        advice = ADVICE.get(response.status_code, "try later")
        raise ToolFailure(f"answers {response.status_code} {response.reason_phrase}: {advice}")
    try:
        answer = response.json()
    except ValueError as error:
        raise ToolFailure("does not answer in JSON: check its address") from error
    if not isinstance(answer, dict):
        raise ToolFailure("answers with something else than an object: check its address")
    return answer


def results_of(items: object, url: str, snippet: str) -> list[SearchResult]:
    """Results from an engine's own list; `url` and `snippet` are its keys. What has no address is passed over."""
    found: Iterable[Any] = items if isinstance(items, list) else []
    return [
        SearchResult(title=_text(item.get("title")), url=item[url], snippet=_text(item.get(snippet)))
        for item in found
        if isinstance(item, dict) and isinstance(item.get(url), str) and item[url]
    ]


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
