import pytest

from clew.state.errors import ToolFailure
from clew.tools.browser.address import checked_url
from clew.tools.web.guard import any_address


@pytest.mark.parametrize(
    ("given", "opened"),
    [
        ("example.com", "https://example.com"),
        (" http://example.com/a?b=c#d ", "http://example.com/a?b=c#d"),
        ("localhost:8080/x", "https://localhost:8080/x"),
        ("//example.com", "https://example.com"),
        ("about:blank", "about:blank"),
    ],
)
async def test_an_address_without_a_scheme_gets_one(given, opened):
    assert await checked_url(given, any_address) == opened


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:x", "data:text/html,x", "http://", "https://[", "http://h:x"]
)
async def test_what_is_no_web_address_is_a_failure(url):
    with pytest.raises(ToolFailure):
        await checked_url(url, any_address)


async def test_the_guard_is_asked_with_host_and_port():
    asked = []

    async def guard(host, port):
        asked.append((host, port))
        return []

    await checked_url("http://a.example", guard)
    await checked_url("https://b.example", guard)
    await checked_url("http://c.example:81", guard)
    assert asked == [("a.example", 80), ("b.example", 443), ("c.example", 81)]
