"""Flows by the seed's names (``orchestration-flow.rst``, Flow Factory)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from ..state.errors import UsageError
from ..state.settings import load_settings
from ..state.spec import AgentSpec
from .plan import AnyGraph, create_plan_flow
from .specs import flow_agents


class FlowType(StrEnum):
    """The kinds of flow."""

    PLANNING = "planning"
    """Plan the task, then have agents carry out the steps."""


FLOWS: Mapping[FlowType, Callable[..., AnyGraph]] = {FlowType.PLANNING: create_plan_flow}


def create_flow(
    flow_type: FlowType | str = FlowType.PLANNING,
    agents: Mapping[str, AgentSpec | str | AnyGraph] | None = None,
    **options: Any,
) -> AnyGraph:
    """The graph of a flow.

    Args:
        flow_type: Which flow.
        agents: The agents by name, the first one primary; None for those of the `[runflow]` settings.
        options: As `create_plan_flow` takes them; what is not given comes from the `[runflow]` settings.

    Raises:
        UsageError: there is no such flow, agent or tool.
    """
    if flow_type not in list(FlowType):
        raise UsageError(f"no flow {str(flow_type)!r}; there are: {', '.join(FlowType)}")
    settings = options.setdefault("settings", load_settings())
    configured = settings.runflow.model_dump(exclude={"agents", "timeout"})
    chosen = agents or {spec.name: spec for spec in flow_agents(settings)}
    return FLOWS[FlowType(flow_type)](chosen, **{**configured, **options})
