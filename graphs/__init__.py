"""The graphs, and the public API of clew. `create_agent` is here at once, the rest when it is first named."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..state.context import RunContext
from ..state.outcome import Outcome, Status, Usage
from ..state.plan import Plan, PlanStep
from ..state.spec import AgentSpec
from .agent import cancel_task, continue_task, create_agent
from .specs import AGENTS

if TYPE_CHECKING:  # few programs need every graph, and each takes its time to import
    from .flow import FlowType, create_flow
    from .hub import cancel_hub, continue_hub, create_hub, hub_roles
    from .plan import cancel_flow, continue_flow, create_plan_flow
    from .remote import cancel_remote, continue_remote, remote_key
    from .step_agent import agent_from_step

_PLACES = {
    "flow": ("FlowType", "create_flow"),
    "hub": ("cancel_hub", "continue_hub", "create_hub", "hub_roles"),
    "plan": ("cancel_flow", "continue_flow", "create_plan_flow"),
    "remote": ("cancel_remote", "continue_remote", "remote_key"),
    "step_agent": ("agent_from_step",),
}
"""The modules of what is imported at its first use."""

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


def __getattr__(name: str) -> Any:
    """What is named for the first time, from its module."""
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
