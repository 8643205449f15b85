"""One Chromium for all tests of a process; a context, a workspace and a tool of its own for each test."""

import re
from pathlib import Path

import pytest
import pytest_asyncio
from browser_pages import Site

from clew.tools.browser.connections import ConnectionFilter
from clew.tools.browser.guard import DomainRules
from clew.tools.browser.launching import new_context, open_context
from clew.tools.browser.session import BrowserSession
from clew.tools.browser.settings import BrowserSettings
from clew.tools.browser.tool import BrowserUse
from clew.tools.resources import resources
from clew.tools.web.guard import PublicAddresses

LOOPBACK = PublicAddresses(["127.0.0.1", "localhost"])


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium():
    async with open_context(BrowserSettings()) as context:
        yield context.browser


@pytest.fixture(scope="session")
def site():
    site = Site(Path(__file__).parent / "pages")
    yield site
    site.close()


class SharedBrowserUse(BrowserUse):
    """The tool, with contexts of a browser that runs already."""

    chromium: object = None

    async def _open(self, config, saved):
        rules = DomainRules(self.settings, self.guard)
        connections = await ConnectionFilter(rules).__aenter__()
        context = await new_context(self.chromium, self.settings, proxy=connections.url)
        if saved:
            await context.set_storage_state(saved["storage"])
        session = BrowserSession(context, self.settings, self._open_workspace(config), self.guard, connections)
        session._stack.push_async_exit(connections)
        session._stack.push_async_callback(context.close)
        session._stack.push_async_callback(session.downloads.close)
        await session.begin(saved)
        return session


class Browsing:
    """Calls of the tool, and what the last one gave back."""

    def __init__(self, tool):
        self.tool = tool
        self.config = {}
        self.artifact = None
        self.text = ""

    @property
    def workspace(self):
        return self.tool.workspace

    async def __call__(self, action, **arguments):
        call = {"name": "browser_use", "args": {"action": action, **arguments}, "id": "call", "type": "tool_call"}
        message = await self.tool.ainvoke(call, self.config)
        self.artifact, self.text = message.artifact, message.content
        return message.content

    async def look(self):
        """The page's text in the state."""
        await self("state")
        return self.artifact["state"]["page"]

    async def open(self, url):
        await self("go_to_url", url=url)
        return await self.look()

    async def index(self, *words):
        """Index of the one element whose line in a fresh state has all of the words."""
        return find(await self.look(), *words)

    async def session(self):
        async with self.tool.lend(self.config) as session:
            return session

    async def evaluate(self, script):
        session = await self.session()
        return await (await session.page()).evaluate(script)


def find(page, *words):
    lines = [line for line in page.splitlines() if "[" in line and all(word in line for word in words)]
    found = [int(match[1]) for line in lines if (match := re.match(r"\s*\*?\[(\d+)\]<", line))]
    assert len(found) == 1, f"{len(found)} elements with {words} in:\n{page}"
    return found[0]


@pytest_asyncio.fixture(loop_scope="session")
async def make_browsing(chromium, tmp_path):
    tools = []

    def make(settings=None, **fields):
        fields = {"guard": LOOPBACK, **fields}
        settings = settings or BrowserSettings(screenshots=False)
        tool = SharedBrowserUse(chromium=chromium, workspace=tmp_path / "workspace", settings=settings, **fields)
        tools.append(tool)
        return Browsing(tool)

    yield make
    for tool in tools:
        await resources().close_owned(tool.lease)


@pytest_asyncio.fixture(loop_scope="session")
async def make_plain_browsing(tmp_path):
    """Calls of the tool with a browser of its own, found and started as the settings say."""
    tools = []

    def make(settings):
        tools.append(BrowserUse(workspace=tmp_path / "workspace", settings=settings, guard=LOOPBACK))
        return Browsing(tools[-1])

    yield make
    for tool in tools:
        await resources().close_owned(tool.lease)


@pytest.fixture
def browsing(make_browsing):
    return make_browsing()
