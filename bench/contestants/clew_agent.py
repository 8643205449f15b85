"""clew's agent graph on its SQLite saver, driven async with synchronous durability.

Variants: `journal` for a tool that says nothing of itself, so that each call goes through the journal; `idempotent`
for one that may run again; `whole` sends the whole history with each request, as the peers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_parts import model, tool
from workload import NEXT_STEP, SYSTEM, TASK, Job, finish, main, on_loop

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, create_agent
from clew.state.settings import Settings

CONFIG: Any = {"configurable": {"thread_id": "bench"}, "metadata": {"run_id": "bench"}}


def graph(job: Job, saver: Any) -> Any:
    whole = {"max_messages": 1_000_000} if job.variant == "whole" else {}
    spec = AgentSpec(
        name="bench",
        system_prompt=SYSTEM,
        next_step_prompt=NEXT_STEP,
        tools=("look",),
        max_steps=job.steps + 1,
        **whole,
    )
    tools = [tool(metadata={"idempotent": True}) if job.variant == "idempotent" else tool()]
    settings = Settings(home=Path(job.database.parent))
    return create_agent(spec, model=model(job), tools=tools, checkpointer=saver, settings=settings)


@contextmanager
def run(job: Job) -> Iterator[Callable[[], Any]]:
    with on_loop(open_saver(job.database, full_sync=job.synchronous == "FULL")) as (runner, saver):
        # The first work makes the file and its tables, as `setup()` of the stock savers does before they are measured.
        saver.database.run(lambda connection: None)
        agent = graph(job, saver)

        async def perform() -> Any:
            task = {"messages": [("user", TASK)]}
            state = await agent.ainvoke(task, CONFIG, context=RunContext(headless=True), durability="sync")
            assert state["outcome"].success, state["outcome"]
            return state["messages"]

        yield lambda: finish(runner, perform())


@contextmanager
def resume(job: Job) -> Iterator[Callable[[], Any]]:
    with on_loop(open_saver(job.database)) as (runner, saver):
        agent = graph(job, saver)

        async def perform() -> Any:
            return (await agent.aget_state(CONFIG)).values["messages"]

        yield lambda: finish(runner, perform())


main(run, resume)
