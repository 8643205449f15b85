import subprocess
import sys

import pytest

from clew.state.errors import UsageError
from clew.state.tools import ToolSettings
from clew.state.web import FetchSettings, NetworkSettings, SearchSettings
from clew.tools.catalog import build_installed, build_tools
from clew.tools.extras import PACKAGES, is_installed
from clew.tools.traits import Traits, traits_of

NAMES = ["web_fetch", "web_search"]


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_says_how_to_get_it(name, monkeypatch):
    monkeypatch.setitem(PACKAGES, "web", ("lxml", "searching_of_nobody"))
    with pytest.raises(UsageError, match=r"needs the package 'searching_of_nobody'; install it with .*clew\[web\]"):
        build_tools([name])
    assert build_installed([name, "bash"])[0].name == "bash"
    assert not is_installed(name)
    [browser] = build_tools(["browser_use"])
    assert browser.search is None


@pytest.mark.parametrize("name", NAMES)
def test_building_a_tool_imports_none_of_its_packages(name):
    program = f"""if True:
        import sys
        from clew.tools.catalog import build_tools
        build_tools([{name!r}])
        print(*sorted({{"bs4", "ddgs", "httpx", "lxml", "markdownify", "pypdf"}} & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_tools_get_the_tables_of_the_settings_and_one_guard():
    settings = ToolSettings(
        search=SearchSettings(lang="zh"),
        fetch=FetchSettings(characters=500),
        network=NetworkSettings(allowed_hosts=("localhost",)),
    )
    search, fetch, browser = build_tools(["web_search", "web_fetch", "browser_use"], settings=settings)
    assert (search.settings, search.fetch) == (settings.search, settings.fetch)
    assert fetch.settings == settings.fetch
    assert browser.search.__self__.settings == settings.search
    for tool in (search, fetch, browser):
        assert tool.guard._allowed == {"localhost"}


@pytest.mark.parametrize("name", NAMES)
def test_calls_run_beside_others_and_may_run_again(name):
    [tool] = build_tools([name])
    assert traits_of(tool) == Traits(parallel=True, idempotent=True, risk="low")
