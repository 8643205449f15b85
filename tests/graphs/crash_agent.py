"""An agent with single calls, calls side by side and calls one after the other, for `crashes`."""

from pathlib import Path
from typing import Any

from crashes import Leave, main
from langchain_core.tools import tool

from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

STEPS = 12


def calls(step: int) -> list[dict[str, Any]]:
    name, number = ("leave_alone", 2) if step % 4 == 2 else ("leave", 3 if step % 4 == 0 else 1)
    return [{"name": name, "args": {"name": f"{step}-{place}"}} for place in range(number)]


def build(folder: Path, saver: Any, leave: Leave, idempotent: bool = True) -> Any:
    @tool("leave")
    async def side_by_side(name: str) -> str:
        """Leave a trace."""
        return await leave(name)

    @tool
    async def leave_alone(name: str) -> str:
        """Leave a trace with nobody beside."""
        return await leave(name)

    # An idempotent call in flight at a kill runs again, and the history is that of an undisturbed run.
    side_by_side.metadata = {"idempotent": idempotent}
    leave_alone.metadata = {"parallel": False, "idempotent": idempotent}
    end = {"tool_calls": [{"name": "terminate", "args": {"status": "success", "answer": "done"}}]}
    tools = [side_by_side, leave_alone, *build_tools(["terminate"])]
    spec = AgentSpec(name="tester", tools=[each.name for each in tools], next_step_prompt="Go on.", max_steps=50)
    model = ScriptedModel(replies=[*({"tool_calls": calls(step)} for step in range(STEPS)), end])
    return create_agent(spec, model=model, tools=tools, checkpointer=saver, settings=Settings(home=folder))


if __name__ == "__main__":
    main(build)
