"""Publishing a thread's plan in the plan library."""

from __future__ import annotations

import os

from langgraph.runtime import Runtime

from ..checkpoints.encryption import KEY_VARIABLE
from ..checkpoints.plans import PlanLibrary
from ..checkpoints.serializer import protection
from ..state.context import RunContext
from ..state.plan import Plan
from ..state.secrets import known_secrets, secret_settings
from ..state.settings import Settings


async def publish(plan: Plan, runtime: Runtime[RunContext], settings: Settings) -> None:
    """Put a copy of the plan into the library of the graph's store, with the thread and checkpoint it is from.

    The thread's state is the truth; without a store, or on no thread, nothing is published. The keys of the settings
    and the secrets of the environment are masked.
    """
    execution = runtime.execution_info
    if runtime.store is None or execution is None or execution.thread_id is None:
        return
    secrets = {*known_secrets(), *secret_settings(settings)}
    library = PlanLibrary(runtime.store, serde=protection(secrets, os.environ.get(KEY_VARIABLE)).serde)
    await library.put(plan, thread=execution.thread_id, checkpoint=execution.checkpoint_id)
