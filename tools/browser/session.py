"""A browser that a run holds: its tabs, its page, the elements of the last state."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from playwright.async_api import BrowserContext, Dialog, ElementHandle, FileChooser, Page
from playwright.async_api import Error as PlaywrightError

from ...state.errors import ToolFailure
from ..web.guard import Guard, any_address
from ..workspace import Workspace
from .activity import Activity
from .capture import Capture, Collector
from .connections import ConnectionFilter
from .downloads import Downloads
from .elements import ElementTable
from .failures import failures_of
from .finding import find_browser
from .guard import DomainRules
from .launching import open_context
from .notices import Notices
from .openings import Openings
from .page_state import PageState, page_state
from .requests import guard_requests
from .saving import SavedBrowser, restore, save
from .screenshots import screenshot
from .settings import BrowserSettings
from .tabs import Tabs
from .tracing import traced

FURTHER_LOOKS = 3
PAUSE_SECONDS = 0.1


class BrowserSession:
    """The browser of one agent. One action at a time: hold `lock` around what belongs together."""

    def __init__(
        self,
        context: BrowserContext,
        settings: BrowserSettings,
        workspace: Workspace,
        guard: Guard,
        connections: ConnectionFilter | None = None,
    ) -> None:
        """Watch a context that is open already; `open` starts a browser for it.

        `connections` is what the context's connections go through, where it is ours.
        """
        self.context = context
        self.settings = settings
        self.workspace = workspace
        self.guard: Guard = DomainRules(settings, guard)
        self.lock = asyncio.Lock()
        self.notices = Notices()
        self.tabs = Tabs(context, self.notices)
        self.elements = ElementTable()
        self.activity = Activity(context)
        self.openings = Openings(context)
        self.downloads = Downloads(workspace, self.notices)
        self.chooser: FileChooser | None = None
        """A file chooser that a page opened and nobody has answered."""

        self.connections = connections
        self.closed = False
        """Whether the browser is gone, by `close` or by itself."""

        self._collector = Collector(settings)
        self._stack = AsyncExitStack()
        self._watch()

    @classmethod
    async def open(
        cls, settings: BrowserSettings, workspace: Workspace, guard: Guard, *, saved: SavedBrowser | None = None
    ) -> BrowserSession:
        """Start or reach a browser; with `saved`, with its cookies, storage and tabs.

        Raises:
            UsageError: there is no browser, or it does not start or answer.
        """
        guard = any_address if settings.proxy else guard
        rules = DomainRules(settings, guard)
        storage = saved["storage"] if saved else None
        async with AsyncExitStack() as stack:
            connections = None
            if not settings.proxy and not find_browser(settings).remote:
                connections = await stack.enter_async_context(ConnectionFilter(rules))
            proxy = connections.url if connections else None
            context = await stack.enter_async_context(open_context(settings, proxy=proxy, storage=storage))
            if settings.trace:
                await stack.enter_async_context(traced(context, workspace))
            session = cls(context, settings, workspace, guard, connections)
            stack.push_async_callback(session.downloads.close)
            if connections is None:
                await guard_requests(context, rules)
            await session.begin(saved)
            session._stack = stack.pop_all()
        return session

    async def begin(self, saved: SavedBrowser | None = None) -> None:
        """Open the first tab, or the saved ones, and look out for those that pages open."""
        await self.tabs.page()
        await self.openings.watch()
        if saved is not None:
            await restore(self.tabs, saved, self.guard, self.settings.navigation_seconds)
            told = "its pages were loaded anew" if saved["tabs"] else "its earlier pages are lost"
            self.notices.add("reopened", f"the browser was started again and {told}")

    async def close(self) -> None:
        """End the browser if it is ours; closing twice does nothing."""
        self.closed = True
        await self._stack.aclose()

    async def state(self) -> PageState:
        """The active tab as it is at rest; its elements have the indices that actions take from then on.

        Raises:
            ToolFailure: the page crashed or does not answer.
        """
        capture = await self._capture()
        self.elements.update(capture)
        return page_state(capture, self.elements, self.tabs.all(), self.settings.state_tokens)

    async def screenshot(self, *, labels: bool = False) -> bytes:
        """The viewport as JPEG, on request with the indices of the last state drawn on it.

        Raises:
            ToolFailure: the page crashed or cannot be drawn.
        """
        page = await self.page()
        with failures_of("no screenshot could be taken"):
            return await screenshot(page, self.elements if labels else None)

    async def save(self) -> SavedBrowser:
        """Tabs, cookies and storage, for `open` to begin with. Plain JSON.

        Raises:
            ToolFailure: the browser is gone.
        """
        with failures_of("the browser cannot be saved"):
            return await save(self.context, self.tabs)

    async def page(self) -> Page:
        """Page of the active tab.

        Raises:
            ToolFailure: it crashed.
        """
        page = await self.tabs.page()
        if self.tabs.crashed(page):
            raise ToolFailure("the tab crashed: use refresh to load it again, go_to_url, or switch_tab")
        return page

    async def element(self, index: int) -> ElementHandle:
        """Handle of an element of the last state.

        Raises:
            ToolFailure: there is none of that index, or it is gone.
        """
        return await self.elements.handle(index)

    async def settle(self) -> None:
        """Let the active page react: wait, bounded, until it loads nothing more and downloads are saved."""
        page = await self.tabs.page()
        await self.activity.quiet(page, self.settings.settle_seconds, self.openings)
        if (opened := await self.tabs.page()) is not page:
            await self.activity.quiet(opened, self.settings.settle_seconds, self.openings)
        await self.downloads.wait(self.settings.download_seconds)

    async def _capture(self) -> Capture:
        for _ in range(FURTHER_LOOKS):
            try:
                return await self._collector.settled(await self.page())
            except PlaywrightError:
                # The page went elsewhere or closed its own tab in the middle: what is there next counts.
                await asyncio.sleep(PAUSE_SECONDS)
        with failures_of("the page cannot be read"):
            return await self._collector.settled(await self.page())

    def _watch(self) -> None:
        self.context.on("page", self._watch_page)
        self.context.on("dialog", self._answer)
        self.context.on("close", self._gone)
        for page in self.context.pages:
            self._watch_page(page)

    def _watch_page(self, page: Page) -> None:
        page.on("download", self.downloads.start)
        page.on("filechooser", self._choose)

    def _gone(self, _: Any) -> None:
        self.closed = True

    def _choose(self, chooser: FileChooser) -> None:
        self.chooser = chooser
        self.notices.add("chooser", "the page asks for a file: use upload_file with the same index and a path")

    async def _answer(self, dialog: Dialog) -> None:
        accept = self.settings.dialogs == "accept" or dialog.type == "beforeunload"
        try:
            await (dialog.accept(dialog.default_value) if accept else dialog.dismiss())
        except PlaywrightError:
            # The page closed with its dialog.
            return
        if dialog.type != "beforeunload":
            answer = "accepted" if accept else "dismissed"
            self.notices.add("dialog", f"the page showed the {dialog.type} {dialog.message!r}, which was {answer}")
