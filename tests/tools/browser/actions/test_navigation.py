import socket

import pytest
from playwright.async_api import Error

from clew.state.errors import ToolFailure
from clew.tools.browser.settings import BrowserSettings
from clew.tools.web.guard import PublicAddresses

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


async def test_going_to_a_page_tells_its_address_and_title(browsing, site):
    url = site.page("<p>hello</p>", title="Greeting")
    assert await browsing("go_to_url", url=url) == f"opened {url}: Greeting"
    assert browsing.artifact == {"action": "go_to_url", "url": url, "notices": []}


async def test_back_forward_and_refresh_travel_through_the_history(browsing, site):
    first, second = site.page("one"), site.page("two")
    await browsing("go_to_url", url=first)
    await browsing("go_to_url", url=second)
    await browsing("go_back")
    assert browsing.artifact["url"] == first
    await browsing("go_forward")
    assert browsing.artifact["url"] == second
    await browsing.evaluate("document.body.textContent = 'changed'")
    await browsing("refresh")
    assert await browsing.look() == "two"


async def test_there_is_nothing_to_go_forward_to_on_the_last_page(browsing, site):
    await browsing("go_to_url", url=site.page("one"))
    with pytest.raises(ToolFailure, match="no page to go forward to"):
        await browsing("go_forward")


async def test_an_http_error_is_told_and_its_page_shown(browsing, site):
    assert "The server answered 404" in await browsing("go_to_url", url=site.url("/missing"))
    assert "There is no such page" in await browsing.look()
    assert "The server answered 503" in await browsing("go_to_url", url=site.url("/status/503"))


async def test_a_server_that_does_not_answer_in_time_is_a_failure(make_browsing, site):
    browsing = make_browsing(BrowserSettings(navigation_seconds=0.5))
    with pytest.raises(ToolFailure, match="did not answer in time"):
        await browsing("go_to_url", url=site.url("/slow?seconds=5"))


async def test_an_address_where_nothing_answers_is_a_failure_that_says_so(browsing):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(ToolFailure, match=rf"127\.0\.0\.1:{port} does not answer"):
            await browsing("go_to_url", url=f"http://127.0.0.1:{port}/")


async def test_only_web_addresses_can_be_opened(browsing):
    for url in ("file:///etc/passwd", "chrome://settings", "javascript:alert(1)", "view-source:http://a.b"):
        with pytest.raises(ToolFailure, match="give an http:// or https:// address"):
            await browsing("go_to_url", url=url)


async def test_a_private_address_is_refused_unless_allowed(make_browsing, site):
    browsing = make_browsing(guard=PublicAddresses())
    with pytest.raises(ToolFailure, match="private network"):
        await browsing("go_to_url", url=site.url("/secret"))
    assert "/secret" not in site.visits


async def test_a_redirect_into_a_refused_host_reaches_nobody(make_browsing, site):
    browsing = make_browsing(BrowserSettings(denied_domains=("localhost",)))
    target = site.url("/denied-by-redirect", host="localhost")
    with pytest.raises(ToolFailure, match="localhost is among the denied domains"):
        await browsing("go_to_url", url=site.url(f"/redirect?to={target}"))
    assert "/denied-by-redirect" not in site.visits


async def test_frames_scripts_and_sockets_of_a_page_cannot_reach_a_refused_host(make_browsing, site):
    browsing = make_browsing(BrowserSettings(allowed_domains=("127.0.0.1",)))
    there = site.url("/denied-by-page", host="localhost")
    await browsing.open(
        site.page(
            f"<iframe src='{there}'></iframe><img src='{there}'><p id=p></p><script>"
            f"fetch('{there}', {{mode: 'no-cors'}}).catch(() => {{ p.textContent = 'refused' }});"
            f"new WebSocket('{there.replace('http', 'ws')}')</script>"
        )
    )
    assert "refused" in await browsing.look()
    assert "/denied-by-page" not in site.visits


async def test_waiting_takes_its_time(browsing):
    assert await browsing("wait", seconds=0.1) == "waited 0.1 seconds"


async def test_a_pdf_is_kept_in_the_workspace(browsing, site):
    text = await browsing("go_to_url", url=site.url("/pdf/paper.pdf"))
    assert "downloads/paper.pdf" in text
    assert (browsing.workspace / "downloads/paper.pdf").read_bytes().startswith(b"%PDF")


async def test_an_address_that_is_a_download_lands_in_the_workspace(browsing, site):
    text = await browsing("go_to_url", url=site.url("/file/table.csv"))
    assert "is a file, not a page" in text
    assert "downloads/table.csv (8 bytes)" in text
    assert (browsing.workspace / "downloads/table.csv").read_text() == "a,b\n1,2\n"


async def test_a_crashed_tab_is_told_and_comes_back_with_refresh(browsing, site):
    url = site.page("<button>alive</button>")
    await browsing.open(url)
    session = await browsing.session()
    page = await session.page()
    with pytest.raises(Error):
        await page.goto("chrome://crash")
    with pytest.raises(ToolFailure, match="crashed: use refresh"):
        await browsing("state")
    await browsing("refresh")
    assert "<button>alive" in await browsing.look()
    assert [tab["id"] for tab in browsing.artifact["state"]["tabs"]] == [0]
