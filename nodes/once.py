"""Running a tool call once, whatever crashes in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER
from langgraph.errors import GraphInterrupt
from langgraph.runtime import ExecutionInfo

from ..checkpoints.durable import DurableSaver
from ..checkpoints.journal import CallKey, Journal
from ..tools.resources import scope_of


async def run_once(
    config: RunnableConfig,
    execution: ExecutionInfo | None,
    call_id: str,
    run: Callable[[], Awaitable[ToolMessage]],
    interrupted: Callable[[], ToolMessage],
) -> ToolMessage:
    """The result of `run`, recorded in the journal of the run's saver; the recorded one if it ran before.

    A call that an earlier process began and never ended gets the answer `interrupted` and does not run again. A
    saver that is not ours keeps no journal, and the call simply runs.
    """
    journal = journal_of(config)
    if journal is None or execution is None:
        return await run()
    scope = scope_of(config)
    key = CallKey(scope.thread, scope.namespace, execution.task_id, call_id)
    entry = await journal.begin(key, execution.checkpoint_id)
    if not entry.may_run:
        return entry.result or interrupted()
    try:
        result = await run()
    except GraphInterrupt:
        await journal.wait(key)
        raise
    await journal.finish(key, execution.checkpoint_id, result)
    return result


def journal_of(config: RunnableConfig) -> Journal | None:
    """The journal of the saver that the run is on; None if the saver keeps none."""
    saver = run_saver(config)
    return Journal(saver) if saver else None


def run_saver(config: RunnableConfig) -> DurableSaver | None:
    """The saver that the run is on, if it is one of ours; a child graph has its parent's."""
    saver = config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
    # LangGraph's server puts an adapter around the saver that it is given.
    saver = getattr(saver, "_inner", saver)
    return saver if isinstance(saver, DurableSaver) else None
