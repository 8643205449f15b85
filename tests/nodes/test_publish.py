from langgraph.runtime import ExecutionInfo, Runtime
from langgraph.store.memory import InMemoryStore

from clew.checkpoints.plans import PlanLibrary
from clew.nodes.publish import publish
from clew.state.plan_draft import create_plan
from clew.state.settings import Settings

KEY = "the-key-of-the-settings"


def runtime(store, thread="t"):
    return Runtime(
        store=store,
        execution_info=ExecutionInfo(checkpoint_id="c", checkpoint_ns="", task_id="k", thread_id=thread),
    )


async def test_the_keys_of_the_settings_do_not_reach_the_library():
    store = InMemoryStore()
    plan = create_plan("p", "Use the service", [f"Log in with {KEY}"])
    await publish(plan, runtime(store), Settings(llm={"api_key": KEY}))
    entry = await PlanLibrary(store).get("p")
    assert entry.plan.steps[0].text == "Log in with [redacted]"
    assert (entry.thread, entry.checkpoint) == ("t", "c")


async def test_a_run_on_no_thread_publishes_nothing():
    store = InMemoryStore()
    await publish(create_plan("p", "T", ["a"]), runtime(store, thread=None), Settings())
    assert await PlanLibrary(store).list() == []
