"""Where tools may connect to: the guard against requests into private networks.

A guard resolves a name once and gives the addresses that it has checked; whoever connects dials one of these and never
the name, so that a name whose address changes after the check (DNS rebinding) gains nothing. For httpx that is
`GuardedTransport`; others call the guard, or `checked_address`, and dial what it gives.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from ...state.errors import ToolFailure

Guard = Callable[[str, int], Awaitable[Sequence[str]]]
"""From host and port to the addresses that may be dialled, best first; raises `ToolFailure` where none may be."""

METADATA = frozenset([IPv4Address("168.63.129.16")])
"""Metadata services of clouds at addresses that no registry calls private."""

TRANSLATED = IPv6Network("64:ff9b::/96")
"""Prefix under which a gateway reaches IPv4 addresses (RFC 6052)."""


class PublicAddresses:
    """Refuses hosts with a private, loopback, link-local, multicast, metadata or otherwise reserved address.

    `allowed_hosts` are exempt, by name or address as a URL writes them.
    """

    def __init__(self, allowed_hosts: Sequence[str] = ()) -> None:
        self._allowed = frozenset(host.lower().strip("[]") for host in allowed_hosts)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Addresses of `host`, all of them public."""
        addresses = await resolve(host, port)
        if host.lower() not in self._allowed and not all(map(is_public, addresses)):
            raise ToolFailure(f"{host} is in a private network, which is out of reach: use a public address")
        return addresses


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the internet at large; of one that carries another, whether that one does."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip.is_site_local:
            return False
        ip = _carried(ip) or ip
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip in METADATA)


def _carried(ip: IPv6Address) -> IPv4Address | None:
    if ip in TRANSLATED:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


async def resolve(host: str, port: int) -> list[str]:
    """Addresses of a host, as its resolver orders them.

    Raises:
        ToolFailure: there is no such host.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFailure(f"there is no host {host}: check the address") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def any_address(host: str, port: int) -> Sequence[str]:
    """Let every host pass, and leave its name to whoever connects: a proxy of the settings."""
    return [host]
