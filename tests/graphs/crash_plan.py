"""A plan with steps side by side, whose agents leave traces, for `crashes`."""

import re
from pathlib import Path
from typing import Any

from crashes import Leave, main
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool

from clew.graphs import AgentSpec, create_agent
from clew.graphs.plan import create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

STEPS = [
    {"text": "a", "depends_on": []},
    {"text": "b", "depends_on": []},
    {"text": "c", "depends_on": []},
    {"text": "d", "depends_on": [0, 1]},
    {"text": "e", "depends_on": [2]},
    {"text": "f", "depends_on": [3, 4]},
]


def call(tool_name: str, **args: Any) -> dict[str, Any]:
    return {"name": tool_name, "args": args}


def reply(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Any:
    text = "\n".join(message.text for message in messages if message.type in ("system", "human"))
    if "Make a plan for the task" in text:
        return {"tool_calls": [call("planning", command="create", title="Traces", steps=STEPS)]}
    if "All steps of the plan are done" in text:
        return "All done."
    step = re.findall(r"^Current step: (.*)$", text, re.MULTILINE)[-1]
    turn = sum(message.type == "ai" for message in messages)
    if turn == 2:
        return {"tool_calls": [call("terminate", status="success", answer=f"{step} is done")]}
    names = [f"{step}-0"] if turn == 0 else [f"{step}-1", f"{step}-2"]
    return {"tool_calls": [call("leave", name=name) for name in names]}


def build(folder: Path, saver: Any, leave: Leave) -> Any:
    @tool("leave")
    async def leave_a_trace(name: str) -> str:
        """Leave a trace."""
        return await leave(name)

    # So that a call in flight at a kill runs again, and the plan ends as that of an undisturbed run.
    leave_a_trace.metadata = {"idempotent": True}
    settings = Settings(home=folder)
    tools = [leave_a_trace, *build_tools(["terminate"])]
    spec = AgentSpec(name="worker", description="Leaves traces.", tools=[each.name for each in tools])
    model = ScriptedModel(reply=reply)
    worker = create_agent(spec, model=model, tools=tools, settings=settings)
    return create_plan_flow({"worker": worker}, model=model, parallel=3, checkpointer=saver, settings=settings)


if __name__ == "__main__":
    main(build)
