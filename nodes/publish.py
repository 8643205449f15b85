"""Publishing a thread's plan in the plan library."""

from __future__ import annotations

from langgraph.runtime import Runtime

from ..checkpoints.plans import PlanLibrary
from ..state.context import RunContext
from ..state.plan import Plan


async def publish(plan: Plan, runtime: Runtime[RunContext]) -> None:
    """Put a copy of the plan into the library of the graph's store, with the thread and checkpoint it is from.

    The thread's state is the truth; without a store, or on no thread, nothing is published.
    """
    execution = runtime.execution_info
    if runtime.store is None or execution is None or execution.thread_id is None:
        return
    await PlanLibrary(runtime.store).put(plan, thread=execution.thread_id, checkpoint=execution.checkpoint_id)
