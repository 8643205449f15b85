import pytest

from clew.state.errors import ToolFailure
from clew.tools.browser.guard import DomainRules, in_domain
from clew.tools.browser.settings import BrowserSettings
from clew.tools.web.guard import any_address


@pytest.mark.parametrize(
    ("host", "domain", "inside"),
    [
        ("example.com", "example.com", True),
        ("www.example.com", "example.com", True),
        ("WWW.Example.com.", "*.example.com", True),
        ("badexample.com", "example.com", False),
        ("example.com.evil.org", "example.com", False),
    ],
)
def test_a_domain_holds_itself_and_what_is_below_it(host, domain, inside):
    assert in_domain(host, domain) is inside


async def test_denied_domains_are_stronger_than_allowed_ones():
    settings = BrowserSettings(allowed_domains=("example.com",), denied_domains=("shop.example.com",))
    rules = DomainRules(settings, any_address)
    assert await rules("www.example.com", 443) == ["www.example.com"]
    with pytest.raises(ToolFailure, match="denied"):
        await rules("pay.shop.example.com", 443)
    with pytest.raises(ToolFailure, match=r"not among the allowed domains \(example\.com\)"):
        await rules("example.org", 443)
