"""What an MCP server offers, as `clew mcp test` tells it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client

from ..state.mcp import McpServer
from ..tools.mcp.listing import Listing
from ..tools.mcp.names import server_parts, tool_names
from ..tools.mcp.session import ServerSession
from ..tools.mcp.sign_in import SignIn
from ..tools.mcp.traits import annotated_traits


@dataclass(frozen=True)
class McpReport:
    """How a server answered."""

    server: str
    """Its name in the settings."""

    problem: str = ""
    """Why it cannot be used; empty where it can."""

    program: str = ""
    """What it calls itself, with its version."""

    protocol: str = ""
    """The version of the protocol that both speak."""

    tools: list[dict[str, Any]] = field(default_factory=list)
    """Its tools as an agent gets them: `name`, `remote` name, `risk`, `idempotent` and `description`."""

    resources: list[str] = field(default_factory=list)
    """Addresses of its resources."""

    prompts: list[str] = field(default_factory=list)
    """Names of its prompts."""

    def as_json(self) -> dict[str, Any]:
        """The report as plain JSON."""
        return asdict(self)


async def check_server(server: McpServer, home: Path, sign_in: SignIn | None = None) -> McpReport:
    """Connect to a server and list all that it offers."""
    session = ServerSession(server, sign_in or SignIn(home))
    try:
        await session.settled()
        if session.client is None:
            return McpReport(server.name, session.problem or "it does not answer")
        return await _report(session.client, session.listing)
    finally:
        await session.close()


async def _report(client: Client, listing: Listing) -> McpReport:
    server, info = listing.server, client.server_info
    resources = (await client.list_resources()).resources if listing.resources else []
    templates = (await client.list_resource_templates()).resource_templates if listing.resources else []
    prompts = (await client.list_prompts()).prompts if listing.prompts else []
    return McpReport(
        server.name,
        program=f"{info.name} {info.version}".strip() if info else "",
        protocol=client.protocol_version,
        tools=_tools(listing),
        resources=[*(str(each.uri) for each in resources), *(each.uri_template for each in templates)],
        prompts=[each.name for each in prompts],
    )


def _tools(listing: Listing) -> list[dict[str, Any]]:
    [part] = server_parts([listing.server.name])
    rows = []
    for name, tool in zip(tool_names(part, list(listing.tools)), listing.tools.values(), strict=True):
        traits = annotated_traits(tool.annotations, trusted=listing.server.trust_annotations)
        about = " ".join((tool.description or "").split())
        named = {"name": name, "remote": tool.name, "description": about}
        rows.append({**named, "risk": traits.risk, "idempotent": traits.idempotent})
    return rows
