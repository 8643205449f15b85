"""What one call of a tool may break, before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from .traits import Risk, traits_of


@runtime_checkable
class Assessing(Protocol):
    """A tool whose calls differ in what they may break."""

    async def assess(self, config: RunnableConfig, arguments: Mapping[str, Any]) -> Risk:
        """Risk of one call with these arguments, which nobody has validated. Changes and starts nothing."""


async def risk_of_call(tool: BaseTool, arguments: Mapping[str, Any], config: RunnableConfig) -> Risk:
    """Risk of one call: what the tool itself says of it, else the risk in its traits.

    Args:
        tool: The tool that is called.
        arguments: The call's arguments as the model wrote them.
        config: As the call itself gets it, with the thread and the agent's namespace (`tool_config`).
    """
    return await tool.assess(config, arguments) if isinstance(tool, Assessing) else traits_of(tool).risk
