import pytest

from clew.state.errors import UsageError
from clew.tools.browser import finding
from clew.tools.browser.finding import BrowserSource, find_browser
from clew.tools.browser.settings import BrowserSettings


def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine without any browser."""
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(finding, "APPLICATIONS", ())
    return tmp_path


def test_without_a_browser_the_error_says_what_to_do():
    with pytest.raises(UsageError, match="run `playwright install chromium`, or install Chrome"):
        find_browser(BrowserSettings())


def test_a_browser_of_the_system_is_found_on_the_path(machine):
    chromium = program(machine / "bin/chromium")
    assert find_browser(BrowserSettings()) == BrowserSource("system", str(chromium))


def test_playwrights_own_comes_before_the_systems_and_the_latest_first(machine):
    program(machine / "bin/chromium")
    program(machine / "playwright/chromium-999/chrome-linux/chrome")
    latest = program(machine / "playwright/chromium-1200/chrome-linux64/chrome")
    assert find_browser(BrowserSettings()) == BrowserSource("playwright", str(latest))


def test_a_browser_without_a_window_serves_only_where_no_window_is_wanted(machine):
    shell = program(machine / "playwright/chromium_headless_shell-1200/chrome-linux/headless_shell")
    assert find_browser(BrowserSettings()).location == str(shell)
    with pytest.raises(UsageError):
        find_browser(BrowserSettings(headless=False))


def test_the_setting_comes_before_all_and_must_be_there(machine):
    program(machine / "bin/chromium")
    own = program(machine / "own/browser")
    assert find_browser(BrowserSettings(executable=own)) == BrowserSource("setting", str(own))
    with pytest.raises(UsageError, match="missing is not there or cannot be run"):
        find_browser(BrowserSettings(executable=machine / "missing"))


def test_remote_browsers_are_not_ours_to_stop():
    assert find_browser(BrowserSettings(cdp_url="http://host:9222")).remote
    assert find_browser(BrowserSettings(wss_url="ws://host:3000/")).remote
    assert not BrowserSource("system", "/usr/bin/chromium").remote
