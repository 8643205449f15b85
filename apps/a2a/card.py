"""The card by which others find an agent and learn what it can do (seed ``orchestration-flow.rst``, Agent Card)."""

from __future__ import annotations

from importlib.metadata import version

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    APIKeySecurityScheme,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, TransportProtocol
from langchain_core.tools import BaseTool

from ...state.spec import AgentSpec
from ...tools.catalog import build_tools

SEED_NAMES = {"manus": "Manus Agent"}
"""Names of cards that the seed gives."""

SEED_SKILLS = {
    "python_execute": "Python Execute",
    "browser_use": "Browser use",
    "str_replace_editor": "Replace String",
    "ask_human": "Ask human",
}
"""Ids of skills that the seed gives; a tool that it does not know is a skill under its own name."""

INPUT_MODES = ["text/plain", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp"]
OUTPUT_MODES = ["text/plain", "application/json"]


def agent_card(spec: AgentSpec, url: str, *, keys: bool) -> AgentCard:
    """The card of an agent that is served.

    Args:
        spec: The agent.
        url: Where callers reach it.
        keys: Whether callers need a key.
    """
    return AgentCard(
        name=SEED_NAMES.get(spec.name, spec.name),
        description=spec.description or f"The agent {spec.name}.",
        version=version("clew"),
        supported_interfaces=_interfaces(f"{url.rstrip('/')}/"),
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=INPUT_MODES,
        default_output_modes=OUTPUT_MODES,
        skills=[_skill(tool) for tool in build_tools(spec.tools)],
        security_schemes=_schemes() if keys else {},
        security_requirements=[SecurityRequirement(schemes={name: StringList()}) for name in _schemes()]
        if keys
        else [],
    )


def _interfaces(url: str) -> list[AgentInterface]:
    return [
        AgentInterface(url=url, protocol_binding=binding, protocol_version=protocol)
        for binding, protocol in (
            (TransportProtocol.JSONRPC, PROTOCOL_VERSION_1_0),
            (TransportProtocol.HTTP_JSON, PROTOCOL_VERSION_1_0),
            (TransportProtocol.JSONRPC, PROTOCOL_VERSION_0_3),
            (TransportProtocol.HTTP_JSON, PROTOCOL_VERSION_0_3),
        )
    ]


def _skill(tool: BaseTool) -> AgentSkill:
    description = tool.description.strip()
    name = SEED_SKILLS.get(tool.name, tool.name)
    return AgentSkill(id=name, name=name, description=description, tags=[tool.name], examples=[])


def _schemes() -> dict[str, SecurityScheme]:
    return {
        "bearer": SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer")),
        "key": SecurityScheme(api_key_security_scheme=APIKeySecurityScheme(name="X-API-Key", location="header")),
    }
