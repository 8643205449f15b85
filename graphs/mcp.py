"""The MCP agent: all tools of its MCP servers, and ours for ending (seed ``agent-system.rst``, MCPAgent).

It is the agent graph of `graphs/agent.py` with the context node `observe_mcp`, which any agent with servers has.
"""

from __future__ import annotations

from ..state.spec import AgentSpec

MCP_AGENT = AgentSpec(
    name="mcp",
    description="An agent that works with the tools of the MCP servers in the settings.",
    system_prompt="prompt:mcp_system",
    next_step_prompt="prompt:mcp_next_step",
    tools=("terminate",),
    mcp_servers=("*",),
    requires_mcp=True,
    max_steps=20,
    max_observe=10_000,
)
"""The built-in agent `mcp`."""
