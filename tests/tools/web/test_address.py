import pytest

from clew.state.errors import ToolFailure
from clew.tools.web.address import CheckedAddress, checked_address, web_address
from clew.tools.web.guard import PublicAddresses


async def test_a_checked_address_carries_what_is_to_be_dialled():
    assert await checked_address("93.184.215.14/x", PublicAddresses()) == CheckedAddress(
        "https://93.184.215.14/x", ["93.184.215.14"]
    )


async def test_an_address_in_a_private_network_is_refused():
    with pytest.raises(ToolFailure, match="private network"):
        await checked_address("http://[::ffff:10.0.0.1]:8080/", PublicAddresses())


@pytest.mark.parametrize("url", ["file:///etc/passwd", "gopher://h/", "", "https://", "http://h:x"])
def test_what_is_no_web_address_is_a_failure(url):
    with pytest.raises(ToolFailure):
        web_address(url)
