import pytest

from clew.state.errors import UsageError
from clew.tools.catalog import build_tools
from clew.tools.traits import Traits, traits_of

NAMES = ["web_fetch", "web_search"]


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_says_how_to_get_it(name, monkeypatch):
    def missing(*_):
        raise ModuleNotFoundError("No module named 'ddgs'", name="ddgs")

    monkeypatch.setattr("clew.tools.catalog.import_module", missing)
    with pytest.raises(UsageError, match=r"needs the package 'ddgs'; install it with .*clew\[web\]"):
        build_tools([name])


@pytest.mark.parametrize("name", NAMES)
def test_calls_run_beside_others_and_may_run_again(name):
    [tool] = build_tools([name])
    assert traits_of(tool) == Traits(parallel=True, idempotent=True, risk="low")
