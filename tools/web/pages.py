"""Pages of the web as text: HTML, PDF and plain text."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from http import HTTPStatus

from ...state.errors import ToolFailure
from .address import web_address
from .cache import RecentCache
from .charset import decode
from .download import Download, download
from .guard import Guard
from .markdown import Document, read_html
from .robots import AGENT, Robots, anything
from .settings import FetchSettings
from .transport import guarded_client

USER_AGENT = f"Mozilla/5.0 (compatible; {AGENT})"

CACHED_PAGES = 32

HTML = ("text/html", "application/xhtml+xml")

TEXT = re.compile(r"text/.+|.+[+/](json|xml|yaml|javascript|x-ndjson|toml|sql)")
"""Media types that are text as they are."""

UNNAMED = ("", "application/octet-stream", "binary/octet-stream")
"""Media types of servers that do not know what they send."""

PDF_MARK = b"%PDF-"


@dataclass(frozen=True)
class Page:
    """A page as text."""

    url: str
    """Address after redirects."""

    content_type: str
    document: Document


class PageReader:
    """Reads pages behind a guard, and keeps them for a while."""

    def __init__(self, settings: FetchSettings, guard: Guard) -> None:
        self._settings = settings
        self._guard = guard
        self._robots = Robots()
        self._pages: RecentCache[str, Page] = RecentCache(CACHED_PAGES, settings.cache_seconds)

    async def read(self, url: str) -> Page:
        """The page at `url`.

        Raises:
            ToolFailure: it cannot be reached, may not be, or has no text.
        """
        page = self._pages.get(url)
        if page is None:
            seconds = self._settings.seconds
            try:
                async with asyncio.timeout(seconds):
                    page = await self._read(url)
            except TimeoutError as error:
                raise ToolFailure(f"{url} took more than {seconds:g} seconds: try again, or another address") from error
            self._pages.put(url, page)
        return page

    async def _read(self, url: str) -> Page:
        settings = self._settings
        url = web_address(url)
        async with await guarded_client(self._guard, user_agent=USER_AGENT, seconds=settings.seconds) as client:
            permission = self._robots.permission(client) if settings.respect_robots else anything
            got = await download(
                client, url, permission, max_redirects=settings.max_redirects, max_bytes=settings.max_bytes
            )
        if got.status >= 400:
            raise ToolFailure(f"{got.url} answers {_status(got.status)}: check the address, or use another source")
        return Page(got.url, got.content_type, await asyncio.to_thread(read_document, got, settings.seconds))


def read_document(got: Download, seconds: float) -> Document:
    """What a download says, as text. `seconds` bound the reading of a PDF file. Blocking.

    Raises:
        ToolFailure: it is no text.
    """
    if got.content_type == "application/pdf" or got.content.startswith(PDF_MARK):
        return _pdf(got, seconds)
    beginning = got.content[:1024].lstrip().lower()
    unnamed = got.content_type in UNNAMED and b"\0" not in got.content
    if got.content_type in HTML or (unnamed and beginning.startswith((b"<!doctype html", b"<html"))):
        document = read_html(decode(got.content, got.charset, html=True), got.url)
    elif unnamed or TEXT.fullmatch(got.content_type):
        document = Document("", decode(got.content, got.charset).strip(), [])
    else:
        kind = got.content_type if got.content_type not in UNNAMED else "a binary file"
        raise ToolFailure(f"{got.url} is {kind}, which cannot be read as text: use another tool for such files")
    if got.truncated:
        return replace(document, text=f"{document.text}\n\n(the rest, beyond {len(got.content)} bytes, was not read)")
    return document


def _pdf(got: Download, seconds: float) -> Document:
    if got.truncated:
        raise ToolFailure(f"{got.url} is a PDF file of more than {len(got.content)} bytes: use another source")
    from .pdf import read_pdf

    return read_pdf(got.content, seconds)


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)
