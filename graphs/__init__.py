"""The graphs, and the public API of clew."""

from ..state.context import RunContext
from ..state.outcome import Outcome, Status, Usage
from ..state.plan import Plan, PlanStep
from ..state.spec import AgentSpec
from .agent import cancel_task, continue_task, create_agent
from .flow import FlowType, create_flow
from .hub import cancel_hub, continue_hub, create_hub, hub_roles
from .plan import cancel_flow, continue_flow, create_plan_flow
from .remote import cancel_remote, continue_remote, remote_key
from .specs import AGENTS
from .step_agent import agent_from_step

__all__ = [
    "AGENTS",
    "AgentSpec",
    "FlowType",
    "Outcome",
    "Plan",
    "PlanStep",
    "RunContext",
    "Status",
    "Usage",
    "agent_from_step",
    "cancel_flow",
    "cancel_hub",
    "cancel_remote",
    "cancel_task",
    "continue_flow",
    "continue_hub",
    "continue_remote",
    "continue_task",
    "create_agent",
    "create_flow",
    "create_hub",
    "create_plan_flow",
    "hub_roles",
    "remote_key",
]
