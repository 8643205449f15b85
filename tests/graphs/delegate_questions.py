"""One process of a run whose delegates ask a person: `SCRIPT FOLDER [ANSWERS]` begins it, or answers and goes on.

ANSWERS is JSON, an answer for each interrupt's id. It prints the state as JSON; `asked` has a line for each model call.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import environment  # noqa: F401
from langgraph.types import Command

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

TASK = {"messages": [("user", "the task")]}
THREAD: Any = {"configurable": {"thread_id": "t"}}


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args} for name, args in made]}


def delegation(agent: str) -> tuple[str, dict[str, Any]]:
    return "delegate", {"agent": agent, "task": "find out"}


def build(folder: Path, saver: Any) -> Any:
    graphs: dict[str, Any] = {}

    def agent(name: str, *replies: Any, delegates: tuple[str, ...] = (), **fields: Any) -> None:
        def reply(messages: list[Any], tools: list[Any]) -> Any:
            with (folder / "asked").open("a") as file:
                file.write(f"{name}\n")
            said = sum(message.type == "ai" for message in messages)
            return replies[said] if said < len(replies) else messages[-1].text

        spec = AgentSpec(name=name, delegates=delegates, **fields)
        graphs[name] = create_agent(
            spec,
            model=ScriptedModel(reply=reply),
            tools=build_tools(["ask_human", "file_search"]),
            checkpointer=saver if name == "outermost" else None,
            settings=Settings(home=folder),
            agents=graphs,
        )

    agent("deepest", calls(("ask_human", {"inquire": "Which way?"})))
    agent("left", calls(delegation("deepest")), delegates=("deepest",))
    agent("right", calls(("file_search", {"glob": "*"})), "There is nothing.", max_steps=1)
    agent("outermost", calls(delegation("left"), delegation("right")), "Done.", delegates=("left", "right"))
    return graphs["outermost"]


async def main(folder: Path, answers: str) -> None:
    async with open_saver(folder / "threads.db") as saver:
        graph = build(folder, saver)
        given = Command(resume=json.loads(answers)) if answers else TASK
        state = await graph.ainvoke(given, THREAD, durability="sync")
    told = {"questions": {each.id: each.value for each in state.get("__interrupt__", ())}}
    results = [[message.name, message.text] for message in state["messages"] if message.type == "tool"]
    print(json.dumps({**told, "status": state["status"], "results": results}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *(sys.argv[2:] or [""])))
