"""An MCP server that lets in only who has signed in, and the authorization server where that is done.

`python oauth_maze.py PORT`
"""

from __future__ import annotations

import sys
import time
from secrets import token_hex
from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

PORT = int(sys.argv[1])

HERE = f"http://127.0.0.1:{PORT}"


class Gatekeeper(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Lets in everybody who comes back."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id or ""] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        fields: dict[str, Any] = {**params.model_dump(exclude={"state"}), "client_id": client.client_id}
        code = AuthorizationCode(**{**fields, "code": token_hex(20), "expires_at": time.time() + 60, "scopes": []})
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: AuthorizationCode) -> OAuthToken:
        token = token_hex(20)
        resource = authorization_code.resource
        self.tokens[token] = AccessToken(token=token, client_id=client.client_id, scopes=[], resource=resource)
        return OAuthToken(access_token=token, expires_in=3600)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return None

    async def exchange_refresh_token(self, client: Any, refresh_token: RefreshToken, scopes: list[str]) -> OAuthToken:
        raise NotImplementedError

    async def revoke_token(self, token: Any) -> None:
        self.tokens.pop(token.token, None)


server = MCPServer(
    "gate",
    auth_server_provider=Gatekeeper(),
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(HERE),
        resource_server_url=AnyHttpUrl(f"{HERE}/mcp"),
        client_registration_options=ClientRegistrationOptions(enabled=True),
    ),
)


@server.tool()
async def enter() -> str:
    """Go in."""
    return "you are in"


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=PORT)
