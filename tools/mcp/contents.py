"""Tools by which an agent lists and uses the resources and the prompts of servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from mcp import Client, MCPError
from pydantic import AnyUrl, BaseModel, Field

from ...state.errors import ToolFailure
from ..base import WorkspaceTool
from ..image_blocks import Content, with_images
from ..traits import Traits
from .results import blocks_content, resource_content

if TYPE_CHECKING:
    from .listing import Listing

READS = Traits(idempotent=True, risk="low").metadata()

MOST_ENTRIES = 200
"""Entries of one list that are shown."""


class ServerArguments(BaseModel):
    """Arguments of the tools that list."""

    server: str = Field(description="Name of the MCP server.")


class ResourceArguments(ServerArguments):
    """Arguments of `mcp_read_resource`."""

    uri: str = Field(description="Address of the resource, as `mcp_list_resources` has it; fill in a template's parts.")


class PromptArguments(ServerArguments):
    """Arguments of `mcp_get_prompt`."""

    name: str = Field(description="Name of the prompt.")
    arguments: dict[str, str] = Field(default_factory=dict, description="Its arguments.")


class ContentTool(WorkspaceTool):
    """A tool that reads what servers have."""

    metadata: dict[str, Any] | None = READS

    open_server: Callable[[str, RunnableConfig], AbstractAsyncContextManager[Any]]
    """Lends the `ServerSession` of a thread with the server of that name; a ToolFailure if there is none."""

    @asynccontextmanager
    async def _client(self, server: str, config: RunnableConfig) -> AsyncIterator[Client]:
        async with self.open_server(server, config) as session:
            client, seconds = await session.connected(), session.server.timeout
            try:
                async with asyncio.timeout(seconds):
                    yield client
            except TimeoutError as error:
                raise ToolFailure(f"{server} did not answer within {seconds:g} seconds") from error
            except MCPError as error:
                session.lose()
                raise ToolFailure(f"{server} refused: {error.message}") from error


class ListResources(ContentTool):
    """Lists the resources of a server."""

    name: str = "mcp_list_resources"
    description: str = "List the resources of an MCP server: files, records and the like that it lets you read."
    args_schema: type[BaseModel] = ServerArguments

    async def _arun(self, server: str, config: RunnableConfig) -> str:
        async with self._client(server, config) as client:
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
        entries = [_entry(str(each.uri), each.description or each.name) for each in resources]
        entries += [_entry(each.uri_template, each.description or each.name) for each in templates]
        return _listed(entries, "resource")


class ReadResource(ContentTool):
    """Reads one resource of a server."""

    name: str = "mcp_read_resource"
    description: str = "Read one resource of an MCP server."
    args_schema: type[BaseModel] = ResourceArguments

    async def _arun(self, server: str, uri: str, config: RunnableConfig) -> Content:
        async with self._client(server, config) as client:
            contents = (await client.read_resource(str(AnyUrl(uri)))).contents
        workspace = await asyncio.to_thread(self._open_workspace, config)
        parts = [await resource_content(each, workspace) for each in contents]
        return with_images("\n".join(text for text, _ in parts if text), [image for _, some in parts for image in some])


class ListPrompts(ContentTool):
    """Lists the prompts of a server."""

    name: str = "mcp_list_prompts"
    description: str = "List the prompts of an MCP server: instructions for tasks that it knows of."
    args_schema: type[BaseModel] = ServerArguments

    async def _arun(self, server: str, config: RunnableConfig) -> str:
        async with self._client(server, config) as client:
            prompts = (await client.list_prompts()).prompts
        entries = []
        for prompt in prompts:
            names = [each.name if each.required else f"{each.name} (optional)" for each in prompt.arguments or []]
            entries.append(_entry(f"{prompt.name}({', '.join(names)})", prompt.description or ""))
        return _listed(entries, "prompt")


class GetPrompt(ContentTool):
    """Gets one prompt of a server."""

    name: str = "mcp_get_prompt"
    description: str = "Get one prompt of an MCP server, filled in with its arguments."
    args_schema: type[BaseModel] = PromptArguments

    async def _arun(
        self, server: str, name: str, config: RunnableConfig, arguments: dict[str, str] | None = None
    ) -> Content:
        async with self._client(server, config) as client:
            messages = (await client.get_prompt(name, arguments)).messages
        workspace = await asyncio.to_thread(self._open_workspace, config)
        texts: list[str] = []
        images: list[dict[str, Any]] = []
        for message in messages:
            content = await blocks_content([message.content], workspace)
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            texts.append(f"{message.role}: {blocks[0]['text']}")
            images += blocks[1:]
        return with_images("\n".join(texts), images)


def content_tools(
    open_server: Callable[[str, RunnableConfig], AbstractAsyncContextManager[Any]], listings: Sequence[Listing]
) -> list[BaseTool]:
    """The tools for what the servers have; none for what none of them has."""
    resources = [listing.server.name for listing in listings if listing.resources]
    prompts = [listing.server.name for listing in listings if listing.prompts]
    tools: list[ContentTool] = []
    if resources:
        tools += [_naming(kind(open_server=open_server), resources) for kind in (ListResources, ReadResource)]
    if prompts:
        tools += [_naming(kind(open_server=open_server), prompts) for kind in (ListPrompts, GetPrompt)]
    return [*tools]


def _naming(tool: ContentTool, servers: Sequence[str]) -> ContentTool:
    tool.description = f"{tool.description} Servers that have some: {', '.join(servers)}."
    return tool


def _entry(name: str, about: str) -> str:
    return f"- {name}: {' '.join(about.split())}" if about else f"- {name}"


def _listed(entries: Sequence[str], what: str) -> str:
    if not entries:
        return f"There is no {what}."
    more = [f"… and {len(entries) - MOST_ENTRIES} more"] if len(entries) > MOST_ENTRIES else []
    return "\n".join([*entries[:MOST_ENTRIES], *more])
