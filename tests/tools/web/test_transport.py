import asyncio

import httpx
import pytest

from clew.state.errors import ToolFailure
from clew.tools.web.guard import PublicAddresses
from clew.tools.web.transport import guarded_client


class Named:
    """A guard that knows some names, and notes what it is asked."""

    def __init__(self, **hosts):
        self.hosts = {name.replace("_", "."): addresses for name, addresses in hosts.items()}
        self.asked = []

    async def __call__(self, host, port):
        self.asked.append((host, port))
        if host not in self.hosts:
            raise ToolFailure(f"{host} is in a private network")
        return self.hosts[host]


def client(guard):
    return guarded_client(guard, user_agent="test", seconds=5)


async def test_the_address_that_the_guard_gave_is_dialled_and_the_name_is_told_to_the_server(server):
    server.give("/a", "hello")
    guard = Named(shop_example=["127.0.0.1"])
    async with await client(guard) as http:
        answer = await http.get(f"http://shop.example:{server.port}/a")
    assert answer.text == "hello"
    assert str(answer.url) == f"http://shop.example:{server.port}/a"
    assert server.asked[0].headers["host"] == f"shop.example:{server.port}"
    assert guard.asked == [("shop.example", server.port)]


async def test_the_next_address_is_dialled_where_one_does_not_answer(server):
    server.give("/a", "hello")
    async with await client(Named(shop_example=["127.0.0.2", "127.0.0.1"])) as http:
        assert (await http.post(f"http://shop.example:{server.port}/a", json={"x": 1})).text == "hello"
    assert server.asked[0].json == {"x": 1}


async def test_every_redirect_is_checked(server):
    server.redirect("/a", f"http://inside.example:{server.port}/b")
    guard = Named(shop_example=["127.0.0.1"])
    async with await client(guard) as http:
        with pytest.raises(ToolFailure, match=r"inside\.example"):
            await http.get(f"http://shop.example:{server.port}/a", follow_redirects=True)
    assert server.paths == ["/a"]


async def test_a_private_address_is_never_dialled(server):
    async with await client(PublicAddresses()) as http:
        with pytest.raises(ToolFailure, match="private network"):
            await http.get(server.url)
    assert server.asked == []


async def test_a_host_that_does_not_answer_fails_as_httpx_does(server):
    async with await client(Named(shop_example=["127.0.0.2"])) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(f"http://shop.example:{server.port}/")


async def test_no_connection_serves_two_names(server):
    server.give("/a", "hello")
    async with await client(Named(one_example=["127.0.0.1"], two_example=["127.0.0.1"])) as http:
        for name in ("one", "two", "one"):
            await http.get(f"http://{name}.example:{server.port}/a")
    assert [asked.headers["host"].partition(".")[0] for asked in server.asked] == ["one", "two", "one"]


async def test_certificates_are_asked_for_by_name_though_an_address_is_dialled():
    """The first message of TLS names the host in clear; what it names is what the certificate must be for."""
    hello = asyncio.get_running_loop().create_future()

    async def hang_up(reader, writer):
        hello.set_result(await reader.read(65536))
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        async with await client(Named(shop_example=["127.0.0.1"])) as http:
            with pytest.raises(httpx.ConnectError):
                await http.get(f"https://shop.example:{port}/")
    assert b"shop.example" in await hello
