"""The state of an agent that works by a plan of its own."""

from __future__ import annotations

from .agent import AgentState
from .flow import PlanChannel


class PlanningState(AgentState):
    """The channels of the agent graph, and the plan."""

    plan: PlanChannel
    """The plan that the agent works on; None until it makes one."""


AnyAgentState = AgentState | PlanningState
"""The state of any agent graph. LangGraph gives a routing function that names it all channels of its graph."""
