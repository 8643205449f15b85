"""What every node and route has in common."""

from __future__ import annotations

import pytest
from langchain_core.messages import ToolMessage

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.script import Script
from clew.models.scripted import ScriptedModel

CONFIG = {"configurable": {"thread_id": "t1"}}

ASK = {"tool_calls": [{"name": "ask_human", "args": {"inquire": "Which?"}}]}


@pytest.mark.parametrize(
    ("node", "following"), [("act", "think"), ("check_stuck", "act"), ("think", "act"), ("gate", "think")]
)
async def test_a_thread_can_be_set_to_go_on_behind_any_node(tmp_path, node, following):
    model = ScriptedModel(scripts=[Script.model_validate({"replies": [ASK, "Done."]})])
    async with open_saver(str(tmp_path / "clew.db")) as saver:
        agent = create_agent(AgentSpec(name="asker", tools=("ask_human",)), model=model, checkpointer=saver)
        asked = await agent.ainvoke({"messages": [("user", "Do it.")]}, CONFIG)
        call = asked["messages"][-1].tool_calls[0]
        answer = {"messages": [ToolMessage("this", tool_call_id=call["id"], name="ask_human")]} if node == "act" else {}
        forked = await agent.aupdate_state(CONFIG, answer, as_node=node)
        assert (await agent.aget_state(forked)).next == (following,)
        if node == "act":
            assert (await agent.ainvoke(None, forked))["outcome"].answer == "Done."
