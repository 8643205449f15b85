"""A hub of two rounds, whose agents leave traces, for `crashes`."""

from pathlib import Path
from typing import Any

from crashes import Leave, main
from langchain_core.tools import tool

from clew.graphs import AgentSpec, create_agent, create_hub
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools


def call(tool_name: str, **args: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": tool_name, "args": args}]}


def build(folder: Path, saver: Any, leave: Leave) -> Any:
    @tool("leave")
    async def leave_trace(name: str) -> str:
        """Leave a trace."""
        return await leave(name)

    leave_trace.metadata = {"idempotent": True}

    def agent(role: str) -> Any:
        def reply(messages: list[Any], offered: list[Any]) -> Any:
            if "found that it is not completed" in messages[0].text:
                (folder / "second").touch()
            turn = 2 if (folder / "second").exists() else 1
            done = sum(message.type == "tool" for message in messages)
            if done < 3:
                return call("leave", name=f"{role}-{turn}-{done}")
            if role == "verify":
                return call("verdict", completed=turn == 2, summary=f"It is round {turn}.")
            return call("terminate", status="success", answer=f"{role} {turn}")

        ends = {"verify": "verdict"}.get(role, "terminate")
        spec = AgentSpec(name=role, tools=("leave", ends), terminating_tools=(ends,), max_steps=50)
        tools = [leave_trace, *build_tools([ends])]
        return create_agent(spec, model=ScriptedModel(reply=reply), tools=tools, settings=Settings(home=folder))

    agents: Any = {role: agent(role) for role in ("study", "code", "verify")}
    return create_hub(agents, checkpointer=saver, settings=Settings(home=folder))


if __name__ == "__main__":
    main(build)
