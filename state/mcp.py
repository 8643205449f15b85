"""MCP servers that agents may use: the `[mcp]` table, and the JSON files in which other programs keep theirs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from .errors import UsageError

Transport = Literal["stdio", "sse", "http"]

SPELLINGS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "sse": "sse",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
}
"""How the programs that read such files spell the transports."""

TABLES = ("mcpServers", "servers")
"""Keys under which a file holds its servers: Claude Desktop, Claude Code and Cursor; VS Code."""

VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""`${NAME}`, `${NAME:-default}` and `${env:NAME}`."""

PLACES = {"${workspaceFolder}": Path.cwd, "${userHome}": Path.home}
"""Folders that such files may name."""


class McpOAuth(BaseModel):
    """How to sign in to one server: the `[mcp.servers.NAME.oauth]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    client_id: str | None = None
    """Id of a client that is registered already; None registers one by itself."""

    client_secret: SecretStr | None = None
    """Its secret."""

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    """Whether a person signs in, with `clew mcp login`, or the client by its own secret."""

    issuer: str | None = None
    """Address of the authorization server that the client's secret is for; `client_credentials` needs it."""

    scopes: tuple[str, ...] = ()
    """What to ask for; empty leaves it to the server."""

    redirect_port: PositiveInt = 10_181
    """Port on this machine to which the browser comes back."""


class McpServer(BaseModel):
    """One server: started as a process, or reached by its address."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    name: str = Field("", max_length=100)
    """Name of the server; part of the names of its tools."""

    type: Transport | None = None
    """How it is reached; None takes `stdio` where there is a command, else `http`."""

    command: str | None = None
    """Program to start."""

    args: tuple[str, ...] = ()
    """Arguments of the program."""

    env: dict[str, str] = Field(default_factory=dict)
    """What the program's environment has beside the harmless variables that every process needs."""

    cwd: Path | None = None
    """Folder that the program runs in."""

    url: str | None = Field(None, validation_alias=AliasChoices("url", "httpUrl", "serverUrl"))
    """Address of the server."""

    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Headers of each request."""

    bearer_token: SecretStr | None = None
    """Token of the `Authorization` header."""

    oauth: McpOAuth | None = None
    """How to sign in; None for a server that asks for no sign-in."""

    timeout: PositiveFloat = 60.0
    """Seconds that one call may take."""

    connect_timeout: PositiveFloat = 20.0
    """Seconds that a connection may take, the start of the program included."""

    allowed_tools: tuple[str, ...] | None = Field(None, validation_alias=AliasChoices("allowed_tools", "includeTools"))
    """Tools, as the server calls them, that agents get; None for all."""

    denied_tools: tuple[str, ...] = Field((), validation_alias=AliasChoices("denied_tools", "excludeTools"))
    """Tools that they do not get. Stronger than `allowed_tools`."""

    trust_annotations: bool = True
    """Whether what the server says about the risk of its tools is believed."""

    disabled: bool = False
    """Leave it out."""

    @field_validator("type", mode="before")
    @classmethod
    def _one_spelling(cls, value: Any) -> Any:
        return SPELLINGS.get(value, value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _reachable(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either a command or a url")
        if (self.transport == "stdio") != (self.command is not None):
            raise ValueError("a command goes with type stdio, a url with sse or http")
        return self

    @property
    def transport(self) -> Transport:
        """How it is reached."""
        return self.type or ("stdio" if self.command is not None else "http")

    @property
    def target(self) -> str:
        """What is started or called, without anything secret."""
        if self.url is not None:
            return re.sub(r"//[^/@]*@", "//", self.url.partition("?")[0])
        return " ".join([self.command or "", *self.args])

    def offers(self, tool: str) -> bool:
        """Whether agents get a tool of the server."""
        return tool not in self.denied_tools and (self.allowed_tools is None or tool in self.allowed_tools)


KNOWN = frozenset({*McpServer.model_fields, "httpUrl", "serverUrl", "includeTools", "excludeTools"} - {"name"})
"""Fields that are read from the file of another program; the rest is for that program alone."""


class McpSettings(BaseModel):
    """The `[mcp]` table: which servers there are."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    config: Path | None = None
    """File with `mcpServers` as other programs write it; its servers join those of the table, which are stronger."""

    refresh_steps: PositiveInt = 5
    """Steps after which tools are listed anew, without any notice (seed ``agent-system.rst``, MCPAgent)."""

    patience: PositiveFloat = 30.0
    """Seconds that an agent of MCP tools alone waits for one of its servers before it ends."""

    servers: dict[str, McpServer] = Field(default_factory=dict)
    """The servers by name: the `[mcp.servers.NAME]` tables."""

    @field_validator("servers", mode="before")
    @classmethod
    def _with_names(cls, given: Any) -> Any:
        return {name: _named(name, entry) for name, entry in given.items()} if isinstance(given, Mapping) else given

    _all: dict[str, McpServer] | None = PrivateAttr(None)
    """All servers, once the file was read."""

    def all(self) -> dict[str, McpServer]:
        """Every server by name, those of the file first. Reads the file, once.

        Raises:
            UsageError: the file cannot be read, or one of its servers is malformed.
        """
        if self._all is None:
            listed = _file_servers(self.config) if self.config else {}
            self._all = {**{name: read_server(name, entry) for name, entry in listed.items()}, **self.servers}
        return self._all

    def chosen(self, names: Sequence[str]) -> list[McpServer]:
        """The servers of these names that are not disabled; `*` stands for all.

        Raises:
            UsageError: there is no server of that name, or the file is no good.
        """
        servers = self.all() if names else {}
        wanted = dict.fromkeys(each for name in names for each in (servers if name == "*" else [name]))
        return [server for name in wanted if not (server := _known(name, servers)).disabled]

    def server(self, name: str) -> McpServer:
        """The server of that name.

        Raises:
            UsageError: there is none, or the file is no good.
        """
        return _known(name, self.all())


def _known(name: str, servers: Mapping[str, McpServer]) -> McpServer:
    if name in servers:
        return servers[name]
    known = f"there are: {', '.join(servers)}" if servers else "add it to clew.toml as [mcp.servers.NAME]"
    raise UsageError(f"no MCP server {name!r}; {known}")


def _file_servers(file: Path) -> dict[str, Any]:
    """The servers of a JSON file, without the fields that only other programs know."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"[mcp] config: cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"[mcp] config: {file} is no JSON: {error}") from error
    table = next((content[key] for key in TABLES if isinstance(content, dict) and key in content), None)
    if not isinstance(table, dict) or not all(isinstance(entry, dict) for entry in table.values()):
        raise UsageError(f"[mcp] config: {file} has no object `mcpServers` that holds an object for each server")
    return {name: {key: entry[key] for key in entry if key in KNOWN} for name, entry in table.items()}


def _named(name: str, entry: Any) -> Any:
    return {**expanded(entry), "name": name} if isinstance(entry, Mapping) else entry


def expanded(value: Any) -> Any:
    """The value with variables of the environment in its texts; one that is not set stays as it is written."""
    if isinstance(value, str):
        for place, folder in PLACES.items():
            value = value.replace(place, str(folder()))
        return VARIABLE.sub(lambda found: os.environ.get(found[1], found[2] or found[0]), value)
    if isinstance(value, Mapping):
        return {key: expanded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [expanded(item) for item in value]
    return value


def unset_variable(text: str) -> str | None:
    """What a text still leaves open: a variable that is not set, or an input that only an editor asks for."""
    found = re.search(r"\$\{([^}]*)\}", text)
    return found[1] if found else None


def read_server(name: str, fields: Mapping[str, Any]) -> McpServer:
    """A server as the settings would read it.

    Raises:
        UsageError: a field is unknown or malformed.
    """
    try:
        return McpServer.model_validate(_named(name, fields))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise UsageError(f"MCP server {name!r}: {'.'.join(map(str, problem['loc']))} {problem['msg']}") from error
