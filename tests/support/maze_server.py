"""An MCP server whose tools do what the tests of the client need: ask, report, wait, change, die.

`python maze_server.py stdio | sse | streamable-http [PORT]`. What it is asked to do, it notes in the file MAZE_NOTES.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.request_state import RequestStateSecurity
from pydantic import BaseModel

SEALED = RequestStateSecurity(keys=[b"thirty-two bytes for one maze..."])

server = MCPServer("maze", instructions="A maze.", request_state_security=SEALED)


class City(BaseModel):
    """What `ask` asks for."""

    city: str


def note(text: str) -> None:
    if path := os.environ.get("MAZE_NOTES"):
        with Path(path).open("a") as file:
            file.write(text + "\n")


@server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
async def look(where: str) -> str:
    note(f"look {where}")
    return f"you see {where}"


@server.tool(description=os.environ.get("MAZE_MARK", "Mark a wall."))
async def mark(wall: str) -> str:
    note(f"mark {wall}")
    return f"marked {wall}"


@server.tool()
async def fail() -> str:
    raise ToolError("the door is shut")


@server.tool()
async def walk(seconds: float, ctx: Context) -> str:
    """Walk in five steps."""
    note("walk")
    try:
        for step in range(5):
            await ctx.report_progress(step, 5, f"step {step}")
            await asyncio.sleep(seconds / 5)
    except asyncio.CancelledError:
        note("cancelled")
        raise
    note("arrived")
    return "arrived"


@server.tool()
async def ask(question: str, ctx: Context) -> str | types.InputRequiredResult:
    """Ask the person, and go on with the answer."""
    if ctx.protocol_version < "2026-07-28":
        result = await ctx.elicit(question, City)
        return result.data.city if result.action == "accept" else result.action
    if ctx.input_responses:
        note(f"asked {question}")
        answer = ctx.input_responses["city"]
        return str((answer.content or {}).get("city")) if answer.action == "accept" else answer.action
    asked = types.ElicitRequestFormParams(message=question, requested_schema=City.model_json_schema())
    return types.InputRequiredResult(input_requests={"city": types.ElicitRequest(params=asked)}, request_state="half")


@server.tool()
async def build(name: str, ctx: Context) -> str:
    """Build a room, which is a new tool."""

    async def room() -> str:
        return f"you are in {name}"

    server.add_tool(room, name=name, description=f"Enter {name}.")
    await ctx.session.send_tool_list_changed() if ctx.protocol_version < "2026-07-28" else await changed(ctx)
    return f"built {name}"


async def changed(ctx: Context) -> None:
    await ctx.notify_tools_changed()


@server.tool()
async def collapse() -> str:
    """The whole maze falls down."""
    note("collapse")
    os._exit(3)


if __name__ == "__main__":
    # With streams of another process for stdin, which never ends, the client has to stop the server by a signal.
    time.sleep(float(os.environ.get("MAZE_DELAY", "0")))
    note("start")
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run(sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]))
