"""Flows by the seed's names."""

import pytest

from clew.graphs import FlowType, create_flow
from clew.state.errors import UsageError
from clew.state.settings import RunFlowSettings, Settings


def test_the_seed_s_call_makes_the_plan_graph():
    graph = create_flow(flow_type=FlowType.PLANNING, agents={"manus": "manus"}, settings=Settings())
    assert {"create_plan", "schedule", "execute_step", "record", "finalize"} <= set(graph.get_graph().nodes)


def test_agents_and_limits_come_from_the_runflow_settings():
    settings = Settings(runflow=RunFlowSettings(agents=["manus", "planning"]))
    nodes = set(create_flow("planning", settings=settings).get_graph().nodes)
    assert {"execute_step_manus", "execute_step_planning"} <= nodes


def test_an_unknown_flow_is_a_sentence_that_names_the_others():
    with pytest.raises(UsageError, match="no flow 'waterfall'; there are: planning"):
        create_flow("waterfall", settings=Settings())
