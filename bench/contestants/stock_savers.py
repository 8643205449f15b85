"""Driving a graph on LangGraph's own SQLite savers, with synchronous durability."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from workload import TASK, Job, finish, main, on_loop

MakeGraph = Callable[[Job, Any], Any]


def main_on_stock_savers(make_graph: MakeGraph) -> None:
    """Measure the graph; the variant names the saver: `sync` or `async`."""

    def run(job: Job) -> Any:
        return _performing(job, make_graph, resume=False)

    def resume(job: Job) -> Any:
        return _performing(job, make_graph, resume=True)

    main(run, resume)


@contextmanager
def _performing(job: Job, make_graph: MakeGraph, resume: bool) -> Iterator[Callable[[], Any]]:
    task = {"messages": [("user", TASK)]}
    config = {"configurable": {"thread_id": "bench"}, "recursion_limit": 10 * job.steps + 100}
    if job.variant == "async":
        with on_loop(_open_async(job)) as (runner, saver):
            graph = make_graph(job, saver)

            async def perform() -> Any:
                if resume:
                    return (await graph.aget_state(config)).values["messages"]
                return (await graph.ainvoke(task, config, durability="sync"))["messages"]

            yield lambda: finish(runner, perform())
    else:
        with SqliteSaver.from_conn_string(str(job.database)) as saver:
            saver.setup()
            saver.conn.execute(f"PRAGMA synchronous={job.synchronous}")
            graph = make_graph(job, saver)
            if resume:
                yield lambda: graph.get_state(config).values["messages"]
            else:
                yield lambda: graph.invoke(task, config, durability="sync")["messages"]


@asynccontextmanager
async def _open_async(job: Job) -> AsyncIterator[AsyncSqliteSaver]:
    async with AsyncSqliteSaver.from_conn_string(str(job.database)) as saver:
        await saver.setup()
        await saver.conn.execute(f"PRAGMA synchronous={job.synchronous}")
        yield saver
