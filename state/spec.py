"""What an agent is: data, not a class."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from .condensation import Condenser

ToolChoice = Literal["none", "auto", "required"]

BARE_STEPS = 10
"""Step limit of an agent without tools (seed ``agent-system.rst``, BaseAgent)."""

TOOL_CALLING_STEPS = 30
"""Step limit of an agent with tools (seed ``agent-system.rst``, ToolCallAgent)."""


def _default_max_steps(fields: dict[str, Any]) -> int:
    return TOOL_CALLING_STEPS if fields.get("tools") else BARE_STEPS


class AgentSpec(BaseModel):
    """One agent: its prompts, its tools and its bounds (seed ``agent-system.rst``, Key Attributes)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("base", pattern=r"^[a-z][a-z0-9_]*$")
    """Identifier: the name of the graph, of the agent in a plan, and of the tool that delegates to it."""

    description: str = ""
    """One sentence by which a person or a planner chooses the agent."""

    remote: str | None = None
    """Address of an A2A agent that does the tasks; its prompts, tools and bounds are its own."""

    model: str | None = None
    """Model name for `load_model`; None takes the run's model."""

    system_prompt: str = ""
    """Text of the system message, or `prompt:NAME` for one of clew's prompt files."""

    next_step_prompt: str = ""
    """Text sent, and never stored, as the last message of each request; or `prompt:NAME`."""

    tools: tuple[str, ...] = ()
    """Names of the tools that the agent may call."""

    optional_tools: tuple[str, ...] = ()
    """Names of further tools, which the agent has where their packages are installed."""

    delegates: tuple[str, ...] = ()
    """Names of the agents that it may give tasks to; with them it has the tool `delegate`."""

    optional_delegates: tuple[str, ...] = ()
    """Names of further ones, which the agent has where the packages of their tools are installed."""

    mcp_servers: tuple[str, ...] = ()
    """Names of the MCP servers whose tools it has besides; `*` stands for all that the settings name."""

    requires_mcp: bool = False
    """Whether it is nothing without its MCP servers, and ends when they are gone for good."""

    context: tuple[str, ...] = ()
    """Names of the context nodes that run before each think."""

    condensers: tuple[Condenser, ...] = ()
    """What makes a long history fit before it is sent, in this order; without any, those of the settings."""

    max_messages: PositiveInt = 100
    """Messages of the history that a request may carry; the thread itself keeps them all."""

    max_steps: PositiveInt = Field(default_factory=_default_max_steps)
    """Think-act cycles that one task may take: 10 without tools, 30 with."""

    max_calls: PositiveInt | None = None
    """Model calls that one task may take; None for no limit, as with the next ones. All are for the agent's children
    too, except `max_steps`."""

    max_tokens: PositiveInt | None = None
    """Input and output tokens that one task may use."""

    max_cost: PositiveFloat | None = None
    """Cost of one task, in the currency of the price table."""

    max_seconds: PositiveFloat | None = None
    """Seconds of work on one task."""

    max_observe: PositiveInt | None = None
    """Characters of one tool result that the model sees; None for all of it."""

    tool_timeout: PositiveFloat = 600.0
    """Seconds that one tool call may take."""

    duplicate_threshold: PositiveInt = 2
    """Earlier replies with the same text that make the agent stuck."""

    tool_choice: ToolChoice = "auto"
    """`none` sends no tools, `required` refuses an answer without a tool call."""

    terminating_tools: tuple[str, ...] = ("terminate", "reject")
    """Tools whose call ends the task (the seed's special tools)."""
