from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.state.errors import ToolFailure
from clew.tools.web.guard import PublicAddresses, any_address, is_public

PRIVATE = [
    "127.0.0.1",
    "localhost",
    "10.1.2.3",
    "100.64.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("host", PRIVATE)
async def test_private_loopback_and_metadata_addresses_are_refused(host):
    with pytest.raises(ToolFailure, match="private network"):
        await PublicAddresses()(host, 80)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "0"])
async def test_other_ways_to_write_a_loopback_address_are_refused(host):
    with pytest.raises(ToolFailure):
        await PublicAddresses()(host, 80)


@pytest.mark.parametrize("host", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"])
async def test_public_addresses_pass(host):
    assert await PublicAddresses()(host, 443) == [host]


async def test_allowed_hosts_pass_by_the_name_that_is_allowed_and_no_other():
    guard = PublicAddresses(["LocalHost", "[::1]"])
    assert "127.0.0.1" in await guard("localhost", 80)
    assert await guard("::1", 80) == ["::1"]
    with pytest.raises(ToolFailure):
        await guard("127.0.0.1", 80)


async def test_a_name_that_does_not_exist_is_a_failure():
    with pytest.raises(ToolFailure, match=r"there is no host nowhere\.invalid"):
        await PublicAddresses()("nowhere.invalid", 80)


async def test_one_private_address_among_public_ones_refuses_the_host(monkeypatch):
    async def resolved(host, port):
        return ["93.184.215.14", "10.0.0.1"]

    monkeypatch.setattr("clew.tools.web.guard.resolve", resolved)
    with pytest.raises(ToolFailure, match=r"mixed\.example is in a private network"):
        await PublicAddresses()("mixed.example", 80)


@given(st.ip_addresses(v=4))
def test_an_ipv6_address_is_as_public_as_the_ipv4_address_that_it_carries(address):
    translated = f"64:ff9b::{int(address) >> 16:x}:{int(address) & 0xFFFF:x}"
    assert is_public(f"::ffff:{address}") == is_public(translated) == is_public(str(address))


@given(st.ip_addresses(v=4, network="10.0.0.0/8") | st.ip_addresses(v=4, network="127.0.0.0/8"))
def test_no_address_of_a_private_network_is_public(address):
    assert not is_public(str(IPv4Address(int(address))))


async def test_any_address_leaves_the_name_to_whoever_connects():
    assert await any_address("example.com", 443) == ["example.com"]
