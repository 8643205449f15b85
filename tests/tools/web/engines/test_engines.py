"""Each engine against a server that speaks its wire format."""

import pytest
from pydantic import SecretStr

from clew.state.errors import ToolFailure
from clew.tools.web.engines.brave import Brave
from clew.tools.web.engines.duckduckgo import DuckDuckGo
from clew.tools.web.engines.google import Google
from clew.tools.web.engines.protocol import SearchQuery
from clew.tools.web.engines.searxng import SearxNG
from clew.tools.web.engines.tavily import Tavily

KEY = SecretStr("the-secret-key")

TEA = SearchQuery("green tea", 2, "en", "us")

EXPECTED = [
    {"title": "Tea one", "url": "https://one.example/", "snippet": "About one"},
    {"title": "Tea two", "url": "https://two.example/", "snippet": ""},
]

PAGE = """<html><body><div class="results">
<div class="result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a" href="https://one.example/">Tea <b>one</b></a></h2>
<a class="result__snippet" href="https://one.example/">About <b>one</b></a></div></div>
<div class="result"><div class="links_main links_deep result__body">
<h2><a href="https://duckduckgo.com/y.js?ad">Buy</a></h2><a href="https://duckduckgo.com/y.js?ad">An ad</a></div></div>
<div class="result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a class="result__a" href="https://two.example/">Tea two</a></h2>
<a class="result__snippet" href="https://two.example/"></a></div></div>
</div></body></html>"""


def items(url, snippet):
    return [
        {"title": " Tea\none ", url: "https://one.example/", snippet: "About one", "score": 0.9},
        {"title": "no address", snippet: "x"},
        {"title": "Tea two", url: "https://two.example/", snippet: None},
    ]


def with_paths(server, answers):
    paths = ["/html/", "/search", "/res/v1/web/search", "/customsearch/v1"]
    for path in paths:
        server.give(path, **answers)
    return [
        DuckDuckGo(f"{server.url}/html/"),
        Tavily(KEY, server.url),
        SearxNG(server.url),
        Brave(KEY, server.url),
        Google(KEY, "engine", server.url),
    ]


async def test_duckduckgo_is_asked_by_a_form_and_its_page_is_read_without_advertisements(server):
    server.give("/html/", PAGE)
    assert await DuckDuckGo(f"{server.url}/html/").search(TEA) == EXPECTED
    [asked] = server.asked
    assert (asked.method, asked.form["q"], asked.form["l"]) == ("POST", "green tea", "us-en")


@pytest.mark.parametrize(("lang", "country", "region"), [("en", "gb", "uk-en"), ("ja", "jp", "jp-jp")])
async def test_duckduckgo_has_regions_of_its_own(server, lang, country, region):
    server.give("/html/", PAGE)
    await DuckDuckGo(f"{server.url}/html/").search(SearchQuery("tea", 1, lang, country))
    assert server.asked[0].form["l"] == region


async def test_tavily_is_asked_in_json_with_the_key_in_a_header(server):
    server.give_json("/search", {"results": items("url", "content"), "response_time": "1.67"})
    assert await Tavily(KEY, server.url).search(TEA) == EXPECTED
    [asked] = server.asked
    assert asked.headers["authorization"] == "Bearer the-secret-key"
    assert asked.json == {"query": "green tea", "max_results": 2}


async def test_brave_is_asked_in_its_own_names_of_languages_and_countries(server):
    server.give_json("/res/v1/web/search", {"web": {"results": items("url", "description")}})
    engine = Brave(KEY, server.url)
    assert await engine.search(TEA) == EXPECTED
    await engine.search(SearchQuery("tea", 50, "zh", "li"))
    first, second = server.asked
    assert first.headers["x-subscription-token"] == "the-secret-key"
    assert first.query == {
        "q": "green tea",
        "count": "2",
        "country": "US",
        "search_lang": "en",
        "text_decorations": "false",
    }
    assert (second.query["count"], second.query["country"], second.query["search_lang"]) == ("20", "ALL", "zh-hans")


async def test_searxng_is_asked_for_json_in_a_locale(server):
    server.give_json("/search", {"results": items("url", "content") * 2, "unresponsive_engines": [["x", "timeout"]]})
    assert await SearxNG(f"{server.url}/").search(TEA) == EXPECTED
    assert server.asked[0].query == {"q": "green tea", "format": "json", "language": "en-US"}


async def test_searxng_without_results_tells_of_its_silent_engines(server):
    server.give_json("/search", {"results": [], "unresponsive_engines": [["bing", "timeout"], ["qwant", "CAPTCHA"]]})
    with pytest.raises(ToolFailure, match="bing timeout, qwant CAPTCHA"):
        await SearxNG(server.url).search(TEA)


async def test_google_is_asked_with_the_key_in_a_header_and_never_in_the_address(server):
    server.give_json("/customsearch/v1", {"items": items("link", "snippet")})
    assert await Google(KEY, "engine", server.url).search(TEA) == EXPECTED
    [asked] = server.asked
    assert asked.headers["x-goog-api-key"] == "the-secret-key"
    assert asked.query == {"q": "green tea", "cx": "engine", "num": "2", "start": "1", "hl": "en", "gl": "us"}


async def test_google_gives_ten_at_a_time(server):
    ten = [{"title": "t", "link": f"https://h/{number}", "snippet": ""} for number in range(10)]
    server.give_json("/customsearch/v1", {"items": ten})
    assert len(await Google(KEY, "engine", server.url).search(SearchQuery("tea", 20, "en", "us"))) == 20
    assert [(asked.query["start"], asked.query["num"]) for asked in server.asked] == [("1", "10"), ("11", "10")]


async def test_no_results_are_no_failure(server):
    answers = {"content": "{}", "kind": "application/json"}
    _, *engines = with_paths(server, answers)
    for engine in engines:
        assert await engine.search(TEA) == []
    server.give("/html/", "<html><body><div class='no-results'>None</div></body></html>")
    assert await DuckDuckGo(f"{server.url}/html/").search(TEA) == []


@pytest.mark.parametrize("status", [202, 302, 401, 429, 500])
async def test_a_refusal_is_a_failure_with_its_status_and_without_the_key(server, status):
    answers = {"content": "the-secret-key is wrong", "status": status}
    for engine in with_paths(server, answers):
        with pytest.raises(ToolFailure, match=rf"answers {status}") as failure:
            await engine.search(TEA)
        assert "secret" not in str(failure.value)


async def test_a_redirect_does_not_carry_the_key_elsewhere(server):
    server.redirect("/search", f"{server.url}/elsewhere")
    with pytest.raises(ToolFailure, match="answers 302"):
        await Tavily(KEY, server.url).search(TEA)
    assert server.paths == ["/search"]


@pytest.mark.parametrize("content", ["<html>", "[1]", ""])
async def test_an_answer_in_another_format_is_a_failure(server, content):
    _, *engines = with_paths(server, {"content": content, "kind": "text/html"})
    for engine in engines:
        with pytest.raises(ToolFailure, match="check its address"):
            await engine.search(TEA)


async def test_a_server_that_is_away_is_a_failure(server):
    engines = with_paths(server, {})
    server.close()
    for engine in engines:
        with pytest.raises(ToolFailure, match="cannot be reached"):
            await engine.search(TEA)


@pytest.mark.parametrize("content", [" ", "<!-- nothing -->"])
async def test_a_page_of_duckduckgo_without_any_element_is_a_failure(server, content):
    server.give("/html/", content)
    with pytest.raises(ToolFailure, match="page of results"):
        await DuckDuckGo(f"{server.url}/html/").search(TEA)
