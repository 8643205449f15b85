import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from clew.state.errors import ToolFailure, UsageError
from clew.tools.browser.finding import find_browser
from clew.tools.browser.launching import open_context
from clew.tools.browser.session import BrowserSession
from clew.tools.browser.settings import BrowserSettings
from clew.tools.web.guard import PublicAddresses
from clew.tools.workspace import Workspace

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

HOLD_A_BROWSER = """
import asyncio
from clew.tools.browser.launching import open_context
from clew.tools.browser.settings import BrowserSettings

async def main():
    async with open_context(BrowserSettings()) as context:
        await context.new_page()
        print("open", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def holder():
    process = subprocess.Popen([sys.executable, "-c", HOLD_A_BROWSER], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "open\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("also_the_driver", [False, True])
async def test_killing_the_process_leaves_no_browser_behind(holder, also_the_driver):
    family = psutil.Process(holder.pid).children(recursive=True)
    assert any("chrom" in process.name() for process in family)
    victims = [psutil.Process(holder.pid)]
    if also_the_driver:
        (driver,) = [process for process in family if "playwright" in process.cmdline()[0]]
        victims.append(driver)
    for victim in victims:
        victim.send_signal(signal.SIGKILL)
    _, alive = await asyncio.to_thread(psutil.wait_procs, family, 20)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def started_since(before):
    # Only what hangs on a new driver: a browser that other tests share may start a process at any time.
    drivers = set(psutil.Process().children()) - before
    return [process for driver in drivers for process in [driver, *driver.children(recursive=True)]]


async def test_closing_the_context_ends_the_browser_and_its_driver():
    before = set(psutil.Process().children())
    async with open_context(BrowserSettings()) as context:
        await context.new_page()
        started = started_since(before)
        assert any("chrom" in process.name() for process in started)
    _, alive = await asyncio.to_thread(psutil.wait_procs, started, 20)
    assert alive == []


async def test_the_browser_is_sandboxed_unless_we_are_root_and_told_to_be_quiet():
    before = set(psutil.Process().children())
    async with open_context(BrowserSettings()):
        commands = [" ".join(process.cmdline()) for process in started_since(before)]
    (command,) = [each for each in commands if "--remote-debugging-pipe" in each and "--type=" not in each]
    assert ("--no-sandbox" in command) == (os.geteuid() == 0)
    assert "--disable-background-networking" in command
    assert "--disable-quic" in command


async def test_a_browser_that_cannot_start_is_an_error_that_names_it(tmp_path):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(UsageError, match=r"the browser .*chromium cannot be used"):
        async with open_context(BrowserSettings(executable=broken)):
            pass


async def test_a_persistent_profile_keeps_what_sites_stored(tmp_path, site):
    settings = BrowserSettings(profile=tmp_path / "profile")
    url = site.page("profile")
    async with open_context(settings) as context:
        page = context.pages[0]
        await page.goto(url)
        await page.evaluate("localStorage.setItem('kept', 'yes')")
    async with open_context(settings) as context:
        page = context.pages[0]
        await page.goto(url)
        assert await page.evaluate("localStorage.getItem('kept')") == "yes"


@pytest.fixture
def remote(tmp_path):
    """DevTools address of a Chromium that somebody else started, and its process."""
    port = free_port()
    flags = ["--headless", f"--remote-debugging-port={port}", f"--user-data-dir={tmp_path / 'remote'}", "about:blank"]
    flags += ["--no-sandbox"] if os.geteuid() == 0 else []
    program = find_browser(BrowserSettings()).location
    process = subprocess.Popen([program, *flags], stderr=subprocess.PIPE, text=True)
    # It says where it listens once it does.
    assert any("DevTools listening" in line for line in process.stderr)
    family = psutil.Process(process.pid).children(recursive=True)
    yield f"http://127.0.0.1:{port}", process
    process.terminate()
    process.wait()
    process.stderr.close()
    psutil.wait_procs(family, 10)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


async def test_a_remote_browser_is_used_guarded_and_left_running(remote, site, tmp_path):
    address, process = remote
    settings = BrowserSettings(cdp_url=address, denied_domains=("localhost",))
    session = await BrowserSession.open(
        settings, Workspace(Path(tmp_path)), PublicAddresses(["127.0.0.1", "localhost"])
    )
    page = await session.page()
    await page.goto(
        site.page(f"<button>far</button><iframe src='{site.url('/denied-remote', host='localhost')}'></iframe>")
    )
    assert "<button>far" in (await session.state())["page"]
    assert "/denied-remote" not in site.visits
    await session.close()
    assert process.poll() is None


async def test_a_remote_browser_that_does_not_answer_is_an_error_that_names_it():
    with pytest.raises(UsageError, match=r"http://127\.0\.0\.1:1 cannot be used"):
        async with open_context(BrowserSettings(cdp_url="http://127.0.0.1:1")):
            pass


async def test_a_browser_that_dies_is_a_failure_and_the_next_call_starts_another(make_browsing, site):
    browsing = make_browsing()
    url = site.page("<button>ok</button>")
    await browsing.open(url)
    session = await browsing.session()
    await session.context.close()
    with pytest.raises(ToolFailure, match="closed"):
        await browsing("go_to_url", url=url)
    assert "<button>ok" in await browsing.open(url)
