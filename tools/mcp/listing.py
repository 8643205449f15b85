"""What an MCP server offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp import Client, MCPError
from mcp_types import Tool

from ...state.mcp import McpServer

MOST_PAGES = 100
"""Pages of a list of tools that are read."""


@dataclass(frozen=True, eq=False)
class Listing:
    """What a server offers. A new one is made only when something of it changes."""

    server: McpServer
    """Whose it is."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Its tools that agents get, by the names that the server gives them."""

    resources: bool = False
    """Whether it has resources."""

    prompts: bool = False
    """Whether it has prompts."""

    def equals(self, other: Listing) -> bool:
        """Whether both offer the same."""
        mine = (self.tools, self.resources, self.prompts)
        return mine == (other.tools, other.resources, other.prompts)


async def list_offer(server: McpServer, client: Client) -> Listing:
    """Ask a server for all that it offers, past any cache."""
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools |= {tool.name: tool for tool in page.tools if server.offers(tool.name)}
        if (cursor := page.next_cursor) is None:
            break
    return Listing(server, tools, await _has_resources(client), await _has_prompts(client))


async def _has_resources(client: Client) -> bool:
    # Many servers say that they can have some, and have none.
    if client.server_capabilities.resources is None:
        return False
    try:
        found = (await client.list_resources()).resources
        return bool(found or (await client.list_resource_templates()).resource_templates)
    except MCPError:
        return False


async def _has_prompts(client: Client) -> bool:
    if client.server_capabilities.prompts is None:
        return False
    try:
        return bool((await client.list_prompts()).prompts)
    except MCPError:
        return False
