"""Certificates, a proxy of the settings, and a Playwright server, each real and on loopback."""

import asyncio
import base64
import json
import os
import ssl
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest
import pytest_asyncio
from pydantic import SecretStr

from clew.state.errors import ToolFailure
from clew.tools.browser.finding import find_browser
from clew.tools.browser.settings import BrowserSettings, Proxy
from clew.tools.resources import resources

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

BUTTON = b"<button>encrypted</button>"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
PAGE = HEAD % len(BUTTON) + BUTTON


@pytest_asyncio.fixture(loop_scope="session")
async def encrypted(tmp_path):
    """Address of a server whose certificate nobody trusts."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *files]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def answer(reader, writer):
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(PAGE)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    server.close()


@pytest.mark.needs("openssl")
async def test_an_untrusted_certificate_is_a_failure_that_names_the_setting(browsing, encrypted):
    with pytest.raises(ToolFailure, match="certificate"):
        await browsing("go_to_url", url=encrypted)


@pytest.mark.needs("openssl")
async def test_an_untrusted_certificate_is_passed_over_on_request(make_browsing, encrypted):
    browsing = make_browsing(BrowserSettings(ignore_certificate_errors=True, screenshots=False))
    assert "<button>encrypted" in await browsing.open(encrypted)


class Upstream:
    """An HTTP proxy that asks for a password and keeps what it was asked for."""

    def __init__(self, site):
        self.site, self.asked, self.refused = site, [], 0
        self.expected = "Basic " + base64.b64encode(b"ariadne:thread").decode()

    async def answer(self, reader, writer):
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if f"Proxy-Authorization: {self.expected}" not in head:
                self.refused += 1
                writer.write(
                    b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n"
                    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
                )
            elif "shop.example" in head.partition("\r\n")[0]:
                self.asked.append(head.partition("\r\n")[0])
                writer.write(PAGE)
            else:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()


async def test_a_proxy_of_the_settings_resolves_names_and_gets_its_password(make_plain_browsing, site):
    upstream = Upstream(site)
    server = await asyncio.start_server(upstream.answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    proxy = Proxy(server=address, username="ariadne", password=SecretStr("thread"))
    browsing = make_plain_browsing(BrowserSettings(proxy=proxy, denied_domains=("evil.example",), screenshots=False))
    assert "<button>encrypted" in await browsing.open("http://shop.example/")
    assert upstream.asked[0] == "GET http://shop.example/ HTTP/1.1"
    with pytest.raises(ToolFailure, match="denied"):
        await browsing("go_to_url", url="http://evil.example/")
    server.close()


@pytest.fixture
def playwright_server(tmp_path):
    """WebSocket address of a Playwright server that somebody else started, and its process."""
    options = {"executablePath": find_browser(BrowserSettings()).location, "headless": True, "host": "127.0.0.1"}
    config = tmp_path / "server.json"
    config.write_text(json.dumps({**options, "chromiumSandbox": os.geteuid() != 0}))
    command = [sys.executable, "-m", "playwright", "launch-server", "--browser", "chromium", "--config", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield next(line.strip() for line in process.stdout if line.startswith("ws://")), process
    family = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    process.wait(30)
    process.stdout.close()
    psutil.wait_procs(family, 20)


async def test_a_playwright_server_is_used_by_its_websocket_guarded_and_left_running(
    playwright_server, make_plain_browsing, site
):
    address, process = playwright_server
    browsing = make_plain_browsing(BrowserSettings(wss_url=address, denied_domains=("localhost",), screenshots=False))
    denied = site.url("/denied-far", host="localhost")
    assert "<button>far" in await browsing.open(site.page(f"<button>far</button><img src='{denied}'>"))
    await resources().close_owned(browsing.tool.lease)
    assert "/denied-far" not in site.visits
    assert process.poll() is None


async def test_a_page_that_replaces_the_timers_is_looked_at_all_the_same(browsing, site):
    page = site.page("<button>still</button><script>setTimeout = () => 0; requestAnimationFrame = () => 0</script>")
    assert "<button>still" in await browsing.open(page)
