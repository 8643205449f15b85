"""Plans: how much faster independent steps are side by side, and how long the prompts of a long plan's steps grow.

`python bench/plan.py` runs this part alone. A step is two calls of the model and one of a tool. Only the model's calls
within the steps wait; the planner's do not.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from clew.graphs import AgentSpec, RunContext, create_agent, create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings

INDEPENDENT = 8
SECONDS = 0.5
LONG = 50
RESULT = "The records of this part are complete; three of them are doubtful and are listed by number. " * 4
"""What each step of the long plan reports: about 370 characters."""

CURRENT = re.compile(r"^Current step: (.*)$", re.MULTILINE)


class Planned:
    """A model that makes a plan, carries out each step with a look and an answer, and sums up."""

    def __init__(self, steps: list[dict[str, Any]], seconds: float) -> None:
        self._steps = steps
        self._seconds = seconds
        self.prompts: dict[str, int] = {}
        """Bytes of the messages that each step was first sent, by the step's text."""

    def __call__(self, messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Any:
        text = "\n".join(message.text for message in messages)
        if current := CURRENT.findall(text):
            if not any(isinstance(each, ToolMessage) for each in messages):
                self.prompts[current[-1]] = len(text.encode())
                call = {"name": "look", "args": {"path": current[-1]}}
                return {"tool_calls": [call], "delay": self._seconds}
            return {"content": f"{current[-1]}: {RESULT}", "delay": self._seconds}
        if any(tool["function"]["name"] == "planning" for tool in tools):
            arguments = {"command": "create", "plan_id": "bench", "title": "Check", "steps": self._steps}
            return {"tool_calls": [{"name": "planning", "args": arguments}]}
        return "All parts are checked."


@tool
async def look(path: str) -> str:
    """Look at a part."""
    return f"{path} is there."


def steps(count: int, depends: bool) -> list[dict[str, Any]]:
    """So many steps, each after all before it or all independent."""
    return [
        {"text": f"Check part number {number:02}", "depends_on": list(range(number)) if depends else []}
        for number in range(count)
    ]


async def run(planned: Planned, parallel: int, count: int) -> float:
    """Seconds that the plan takes; every step must be completed."""
    model = ScriptedModel(reply=planned)
    spec = AgentSpec(name="checker", description="Checks a part.", tools=("look",))
    agent = create_agent(spec, model=model, tools=[look])
    graph = create_plan_flow(
        {"checker": agent},
        model=model,
        parallel=parallel,
        checkpointer=InMemorySaver(),
        settings=Settings(),
    )
    started = time.perf_counter()
    config: Any = {"configurable": {"thread_id": "bench"}}
    task = {"messages": [("user", "Check all parts.")]}
    state = await graph.ainvoke(task, config, context=RunContext(headless=True), durability="sync")
    taken = time.perf_counter() - started
    assert state["plan"].count("completed") == count, state["outcome"]
    return taken


async def side_by_side() -> dict[str, float]:
    """Seconds with one step at a time and with eight."""
    await run(Planned(steps(2, depends=False), 0.0), 2, 2)
    taken = {
        parallel: await run(Planned(steps(INDEPENDENT, depends=False), SECONDS), parallel, INDEPENDENT)
        for parallel in (1, INDEPENDENT)
    }
    return {"one": taken[1], "eight": taken[INDEPENDENT], "speedup": taken[1] / taken[INDEPENDENT]}


async def prompts() -> dict[str, Any]:
    """Bytes of each step's prompt in a long plan in which each step depends on all before it."""
    planned = Planned(steps(LONG, depends=True), 0.0)
    await run(planned, 1, LONG)
    sizes = [size for _, size in sorted(planned.prompts.items())]
    return {"bytes": sizes, "first": sizes[0], "tenth": sizes[9], "last": sizes[-1], "largest": max(sizes)}


def measure() -> dict[str, Any]:
    """Both measurements."""
    return {"side_by_side": asyncio.run(side_by_side()), "prompts": asyncio.run(prompts())}


def main() -> None:
    """Measure and print."""
    from rich.console import Console
    from tables import plan_tables

    console = Console()
    for table in plan_tables(measure()):
        console.print(table)


if __name__ == "__main__":
    main()
