import asyncio
import struct

import pytest

from clew.state.errors import ToolFailure
from clew.tools.browser.connections import ConnectionFilter


@pytest.fixture
async def echo():
    async def answer(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
        writer.write_eof()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def connect(connections, host, port, kind=3):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(connections.url.rpartition(":")[2]))
    writer.write(b"\x05\x01\x00")
    assert await reader.readexactly(2) == b"\x05\x00"
    address = bytes([len(host)]) + host.encode() if kind == 3 else bytes(map(int, host.split(".")))
    writer.write(bytes([5, 1, 0, kind]) + address + struct.pack(">H", port))
    return (await reader.readexactly(10))[1], reader, writer


async def test_what_the_guard_lets_pass_is_joined_both_ways_to_the_end(echo):
    async def guard(host, port):
        return ["127.0.0.1"]

    async with ConnectionFilter(guard) as connections:
        for host, kind in (("some.name", 3), ("192.0.2.1", 1)):
            code, reader, writer = await connect(connections, host, echo, kind)
            assert code == 0
            sent = bytes(range(256)) * 4096
            writer.write(sent)
            writer.write_eof()
            assert await reader.read(-1) == sent
            writer.close()


async def test_what_the_guard_refuses_is_not_dialled_and_its_reason_kept(echo):
    async def guard(host, port):
        raise ToolFailure("not this one")

    async with ConnectionFilter(guard) as connections:
        code, reader, writer = await connect(connections, "127.0.0.1", echo)
        assert code == 2
        assert await reader.read() == b""
        assert connections.reasons == {"127.0.0.1": "not this one"}
        writer.close()


async def test_the_address_that_was_checked_is_the_one_that_is_dialled(echo):
    answers = iter([["127.0.0.1"], ["192.0.2.1"]])

    async def guard(host, port):
        return next(answers)

    async with ConnectionFilter(guard) as connections:
        code, _, writer = await connect(connections, "rebinding.example", echo)
        assert code == 0
        assert next(answers) == ["192.0.2.1"]
        writer.close()


async def test_an_address_where_nothing_answers_is_told_as_such():
    async def guard(host, port):
        return ["127.0.0.1"]

    async with ConnectionFilter(guard) as connections:
        code, _, writer = await connect(connections, "closed.example", 1)
        assert code == 4
        assert "closed.example:1 does not answer" in connections.reasons["closed.example"]
        writer.close()


async def test_closing_cuts_what_is_open(echo):
    async def guard(host, port):
        return ["127.0.0.1"]

    async with ConnectionFilter(guard) as connections:
        _, reader, writer = await connect(connections, "some.name", echo)
    assert await reader.read() == b""
    writer.close()
