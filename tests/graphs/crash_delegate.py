"""An agent with two delegates at once, one of which delegates further, for `crashes`."""

from pathlib import Path
from typing import Any

from crashes import Leave, main
from langchain_core.tools import tool

from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools


def call(tool_name: str, **args: Any) -> dict[str, Any]:
    return {"name": tool_name, "args": args}


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(made)}


def delegation(agent: str) -> dict[str, Any]:
    return call("delegate", agent=agent, task=f"the part of {agent}")


def build(folder: Path, saver: Any, leave: Leave) -> Any:
    @tool("leave")
    async def leave_trace(name: str) -> str:
        """Leave a trace."""
        return await leave(name)

    leave_trace.metadata = {"idempotent": True}
    tools = [leave_trace, *build_tools(["terminate"])]

    def agent(name: str, replies: list[Any], *delegates: Any) -> Any:
        spec = AgentSpec(
            name=name, tools=("leave", "terminate"), delegates=[each.name for each in delegates], max_steps=50
        )
        end = calls(call("terminate", status="success", answer=f"{name} is done", outputs={"by": name}))
        return create_agent(
            spec,
            model=ScriptedModel(replies=[*replies, end]),
            tools=tools,
            checkpointer=saver if name == "outermost" else None,
            settings=Settings(home=folder),
            agents={each.name: each for each in delegates},
        )

    def traces(name: str) -> list[Any]:
        return [calls(call("leave", name=f"{name}-{number}")) for number in range(3)]

    deepest = agent("deepest", traces("deepest"))
    left = agent("left", [*traces("left"), calls(delegation("deepest"))], deepest)
    right = agent("right", traces("right"))
    both = calls(delegation("left"), delegation("right"), call("leave", name="beside"))
    return agent("outermost", [calls(call("leave", name="before")), both], left, right)


if __name__ == "__main__":
    main(build)
