"""`clew run --agent browser`: killed and resumed, its trail for people, its window and its trace."""

import io
import json
import os
import re
import signal
import subprocess
import time
from base64 import b64decode
from pathlib import Path

import psutil
import pytest
from browser_pages import Site
from PIL import Image

pytestmark = pytest.mark.needs("chromium")

END = ("terminate", {"status": "success", "answer": "Seen <b>everything</b>."})


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path / "site")
    yield site
    site.close()


@pytest.fixture
def display(monkeypatch):
    """An X display of its own, without a screen."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        monkeypatch.setenv("DISPLAY", f":{pipe.readline().strip()}")
    yield
    process.terminate()
    process.wait(30)


@pytest.fixture(autouse=True)
def loopback_is_allowed(folder):
    (folder / "clew.toml").write_text('[network]\nallowed_hosts = ["127.0.0.1"]\n')


def use(calls, action, text="", **arguments):
    return calls(("browser_use", {"action": action, **arguments}), content=text)


def ended(processes):
    return not psutil.wait_procs(processes, timeout=60)[1]


def test_a_killed_run_goes_on_with_its_tabs_and_cookies_and_leaves_no_browser_behind(
    clew, start, script, calls, site, folder
):
    first = site.page("<h1>Shop</h1><script>document.cookie ||= 'basket=full; max-age=3600'</script>")
    slow = site.url("/slow?seconds=120")
    model = script(
        use(calls, "go_to_url", url=first),
        use(calls, "open_tab", url=site.page("<h1>Second</h1>")),
        use(calls, "go_to_url", url=slow),
        use(calls, "switch_tab", tab_id=0),
        use(calls, "refresh"),
        calls(END),
    )
    command = ["run", "--agent", "browser", "--thread", "t", "--model", model, "--json", "See the shop"]
    process = start(*command)
    deadline = time.monotonic() + 120
    while "/slow" not in site.visits:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the run did not get to the slow page"
        time.sleep(0.05)
    family = psutil.Process(process.pid).children(recursive=True)
    assert any("chrom" in child.name() for child in family)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    assert ended(family), "a browser was left behind"

    before = len(site.cookies)
    resumed = clew("resume", "t", "--json")
    assert resumed.end["status"] == "finished", resumed.err
    assert "basket=full" in site.cookies[before:]
    shown = json.loads(clew("show", "t", "--json").out)
    results = [message["data"]["content"] for message in shown["messages"] if message["type"] == "tool"]
    assert "may have taken effect" in results[2]
    assert results[3].startswith(f"tab 0 is active: {first}")
    assert "basket=full" not in (folder / ".clew" / "clew.db").read_bytes().decode(errors="replace")


def test_the_trail_is_one_page_with_a_picture_of_each_step_and_no_markup_of_others(clew, script, calls, site, folder):
    model = script(
        use(calls, "go_to_url", "Memory: <script>alert(1)</script>", url=site.page("<h1>Red</h1>", title="<i>x</i>")),
        use(calls, "click_element", index=7),
        calls(END),
    )
    clew("run", "--agent", "browser", "--thread", "t", "--model", model, "See <img src=x>")
    assert clew("show", "t", "--html").out == "wrote t.html\n"
    page = (folder / "t.html").read_text()
    pictures = re.findall(r'<img src="data:image/jpeg;base64,([^"]+)"', page)
    assert Image.open(io.BytesIO(b64decode(pictures[0]))).size == (1280, 900)
    assert len(pictures) == page.count("<img ") == 2, "a failed action has a picture too"
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "See &lt;img src=x&gt;" in page
    assert "there is no element [7]" in page
    assert "Seen &lt;b&gt;everything&lt;/b&gt;." in page
    assert not re.search(r'(src|href)="(?!data:)', page)


def test_the_trail_of_a_run_without_a_browser_has_what_pictures_there_are(clew, script, calls, folder):
    Image.new("RGB", (8, 8), "red").save(folder / "red.png")
    model = script(calls(("str_replace_editor", {"command": "view", "path": "red.png"})), calls(END))
    clew("run", "--thread", "t", "--workspace", str(folder), "--model", model, "--image", "red.png", "Look")
    (folder / "elsewhere").mkdir()
    assert clew("show", "t", "--html", "elsewhere/trail.html").code == 0
    assert (folder / "elsewhere" / "trail.html").read_text().count('<img src="data:image/png;base64,') == 2
    refused = clew("show", "t", "--html", "nowhere/trail.html")
    assert refused.code == 2
    assert "name another file" in refused.err


def test_a_trace_is_recorded_on_request(clew, script, calls, site, folder):
    model = script(use(calls, "go_to_url", url=site.page("hello")), calls(END))
    clew("run", "--agent", "browser", "--thread", "t", "--model", model, "--trace", "--workspace", "w", "Go")
    (trace,) = Path("w/.clew/traces").iterdir()
    assert trace.suffix == ".zip"
    assert trace.stat().st_size > 1000


@pytest.mark.needs("Xvfb")
def test_the_window_is_shown_on_request(clew, script, calls, site, display):
    model = script(use(calls, "go_to_url", url=site.page("hello", title="A headed page")), calls(END))
    run = clew("run", "--agent", "browser", "--thread", "t", "--model", model, "--headed", "--json", "Go")
    assert run.end["status"] == "finished"
    assert "A headed page" in run.out


def test_a_window_without_a_display_is_a_failure_that_names_the_browser(clew, script, calls, site, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    model = script(use(calls, "go_to_url", url=site.page("hello")), "I cannot open it.")
    run = clew("run", "--agent", "browser", "--thread", "t", "--model", model, "--headed", "--json", "Go")
    assert run.end["status"] == "finished"
    assert "cannot be used" in run.out
