import pytest

from clew.state.errors import UsageError
from clew.tools.web.engines.choice import NEEDS, choose_engines
from clew.tools.web.settings import SearchSettings

VARIABLES = [name for needs in NEEDS.values() for name in needs.split(" and ")]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def chosen(**settings):
    return [engine.name for engine in choose_engines(SearchSettings(**settings))]


def test_without_any_key_it_is_duckduckgo():
    assert chosen() == ["duckduckgo"]


def test_engines_with_a_key_come_first():
    settings = {"brave_api_key": "k", "tavily_api_key": "k", "google_api_key": "k", "searxng_url": "http://s"}
    assert chosen(**settings) == ["tavily", "brave", "searxng", "duckduckgo"]
    assert chosen(google_engine_id="x", **settings) == ["tavily", "brave", "google", "searxng", "duckduckgo"]


def test_keys_come_from_the_environment_too(environment):
    for name in VARIABLES:
        environment.setenv(name, "x")
    assert chosen() == ["tavily", "brave", "google", "searxng", "duckduckgo"]


def test_the_settings_name_the_engines_and_their_order():
    assert chosen(engines=("duckduckgo", "brave"), brave_api_key="k") == ["duckduckgo", "brave"]


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_named_engine_without_its_key_says_what_to_set(name):
    with pytest.raises(UsageError, match=f"search engine {name} is not set up; set {NEEDS[name]}"):
        chosen(engines=("duckduckgo", name))


def test_settings_do_not_show_their_keys():
    assert "secret" not in repr(SearchSettings(tavily_api_key="secret"))
