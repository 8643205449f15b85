"""What the built-in agents and the planner send, word for word.

Set UPDATE_GOLDEN=1 to write the golden files anew, and read the difference.
"""

import json
import os
from pathlib import Path

import pytest
from mcp_maze import Maze

from clew.graphs import AGENTS, create_agent, create_hub, create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings

GOLDEN = Path(__file__).parent / "golden"


class Recorder:
    """Answers with what it is given, and keeps each request."""

    def __init__(self, *replies):
        self.replies, self.requests = list(replies), []

    @property
    def model(self):
        return ScriptedModel(reply=self.reply)

    def reply(self, messages, tools):
        names = [each["function"]["name"] for each in tools]
        self.requests.append(
            {"messages": [{"role": message.type, "content": message.text} for message in messages], "tools": names}
        )
        return self.replies.pop(0)


def call(name, **args):
    return {"tool_calls": [{"name": name, "args": args}]}


def settings_of(name, workspace):
    servers = {"maze": Maze("stdio", workspace).fields} if name == "mcp" else {}
    return Settings(home=workspace / "home", mcp={"servers": servers})


async def agent_request(name, workspace):
    must_call = AGENTS[name].tool_choice == "required"
    recorder = Recorder(call("verdict", completed=True, summary="Done.") if must_call else "Done.")
    graph = create_agent(AGENTS[name], model=recorder.model, settings=settings_of(name, workspace), workspace=workspace)
    await graph.ainvoke({"messages": [("user", "Count the files.")]})
    return recorder.requests


async def flow_requests(workspace):
    recorder = Recorder(
        call("planning", command="create", title="Count", steps=["Find the files", "Count them"]),
        call("terminate", status="success", answer="There are three: a, b and c."),
        *[call("terminate", status="failure", answer="I cannot count.")] * 2,
        call("planning", command="mark_step", step_index=1, step_status="not_started", step_notes="Use your fingers."),
        call("terminate", status="success", answer="3"),
        "There are three files.",
    )
    graph = create_plan_flow({"manus": "manus"}, model=recorder.model, settings=Settings(), workspace=workspace)
    await graph.ainvoke({"messages": [("user", "Count the files.")]})
    return recorder.requests


async def hub_requests(workspace):
    recorder = Recorder(
        call("terminate", status="success", answer="There are three: a, b and c."),
        call("terminate", status="success", answer="There are two."),
        call("verdict", completed=False, summary="c is left out."),
        call("terminate", status="success", answer="There are three."),
        call("verdict", completed=True, summary="There are three indeed."),
    )
    graph = create_hub(model=recorder.model, settings=Settings(), workspace=workspace)
    await graph.ainvoke({"messages": [("user", "Count the files.")]})
    return recorder.requests


@pytest.mark.parametrize("name", [*AGENTS, "hub", "plan"])
async def test_the_requests_are_the_golden_ones(name, tmp_path, monkeypatch):
    monkeypatch.setattr("clew.tools.planning.new_plan_id", lambda: "plan_1")
    monkeypatch.setattr("clew.nodes.create_plan.new_plan_id", lambda: "plan_1")
    of_several = {"hub": hub_requests, "plan": flow_requests}
    requests = await (of_several[name](tmp_path) if name in of_several else agent_request(name, tmp_path))
    sent = json.dumps(requests, indent=2, ensure_ascii=False).replace(str(tmp_path), "/workspace") + "\n"
    golden = GOLDEN / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(sent, encoding="utf-8")
    assert sent == golden.read_text(encoding="utf-8")
