"""Signing in to MCP servers: OAuth by the SDK's providers, with the tokens in private files of the home folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...state.errors import ToolFailure
from ...state.mcp import McpServer
from .pins import write_private

if TYPE_CHECKING:  # the SDK's providers are slow to import, and few servers need them
    import httpx2
    from mcp.client.auth import AuthorizationCodeResult
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

FOLDER = Path("mcp", "sign-in")
"""Where the home folder has the tokens, one file a server."""


@dataclass(frozen=True)
class SignIn:
    """Where tokens are kept, and how a person signs in."""

    home: Path
    """The home folder."""

    open_page: Callable[[str], Awaitable[None]] | None = None
    """Shows a person the page of the authorization server; None where nobody is there."""

    come_back: Callable[[], Awaitable[AuthorizationCodeResult]] | None = None
    """Waits until the person has signed in."""


class TokenFile:
    """The tokens of one server, and the client that they were given to."""

    def __init__(self, home: Path, server: McpServer) -> None:
        digest = sha256(server.target.encode()).hexdigest()[:16]
        self._file = home / FOLDER / f"{digest}.json"

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, if there are any."""
        from mcp.shared.auth import OAuthToken

        kept = (await asyncio.to_thread(self._read)).get("tokens")
        return OAuthToken.model_validate(kept) if kept else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        await asyncio.to_thread(self._keep, "tokens", tokens.model_dump(mode="json"))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The registered client, if there is one."""
        from mcp.shared.auth import OAuthClientInformationFull

        kept = (await asyncio.to_thread(self._read)).get("client")
        return OAuthClientInformationFull.model_validate(kept) if kept else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registered client."""
        await asyncio.to_thread(self._keep, "client", client_info.model_dump(mode="json"))

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _keep(self, name: str, value: dict[str, Any]) -> None:
        write_private(self._file, json.dumps({**self._read(), name: value}))


async def authentication(server: McpServer, sign_in: SignIn) -> httpx2.Auth | None:
    """What signs the requests to a server; None for one that needs none."""
    if server.oauth is None:
        return None
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
    from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

    oauth, storage, url = server.oauth, TokenFile(sign_in.home, server), server.url or ""
    secret = oauth.client_secret.get_secret_value() if oauth.client_secret else None
    scope = " ".join(oauth.scopes) or None
    if oauth.grant == "client_credentials":
        if not (oauth.client_id and secret and oauth.issuer):
            raise ToolFailure("client_credentials needs client_id, client_secret and issuer in its oauth settings")
        return ClientCredentialsOAuthProvider(url, storage, oauth.client_id, secret, scope=scope, issuer=oauth.issuer)
    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "clew",
            "redirect_uris": [redirect_address(server)],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_post" if secret else "none",
            "scope": scope,
        }
    )
    if oauth.client_id:
        client = {**metadata.model_dump(), "client_id": oauth.client_id, "client_secret": secret}
        await storage.set_client_info(OAuthClientInformationFull.model_validate(client))
    if sign_in.open_page is None or sign_in.come_back is None:
        return OAuthClientProvider(url, metadata, storage, _nobody_opens(server), _nobody_comes_back)
    return OAuthClientProvider(url, metadata, storage, sign_in.open_page, sign_in.come_back)


def redirect_address(server: McpServer) -> str:
    """Where the browser comes back to."""
    port = server.oauth.redirect_port if server.oauth else 0
    return f"http://127.0.0.1:{port}/callback"


def _nobody_opens(server: McpServer) -> Callable[[str], Awaitable[None]]:
    async def refuse(_: str) -> None:
        raise ToolFailure(f"it asks for a sign-in: run `clew mcp login {server.name}`")

    return refuse


async def _nobody_comes_back() -> AuthorizationCodeResult:
    raise ToolFailure("nobody is there to sign in")
