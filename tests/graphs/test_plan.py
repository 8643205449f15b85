"""The plan graph, from the task to its end."""

import asyncio
import re

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from clew.checkpoints.plans import PlanLibrary
from clew.graphs import AgentSpec, RunContext
from clew.graphs.plan import continue_flow, create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.state.errors import UsageError
from clew.state.settings import Settings

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "make a report")]}


def call(tool_name, **args):
    return {"tool_calls": [{"name": tool_name, "args": args}]}


def done(answer):
    return call("terminate", status="success", answer=answer)


def failed(answer):
    return call("terminate", status="failure", answer=answer)


def planned(*steps, title="Report"):
    return call("planning", command="create", title=title, steps=list(steps))


class Cast:
    """Plays the planner and the agents of all steps, and remembers what each was asked."""

    def __init__(self, plan, *, steps=None, revise=(), summary="All done."):
        self.plan, self.revisions, self.summary = list(plan), list(revise), summary
        self.steps = {text: list(replies) for text, replies in (steps or {}).items()}
        self.asked, self.running, self.most_at_once = [], 0, 0

    async def reply(self, messages, tools):
        text = "\n".join(message.text for message in messages if message.type in ("system", "human"))
        if "Make a plan for the task" in text:
            return self._say("plan", text, self.plan)
        if "you look at it again" in text:
            return self._say("revise", text, self.revisions)
        if "All steps of the plan are done" in text:
            return self._say("finalize", text, [self.summary])
        step = re.findall(r"^Current step: (.*)$", text, re.MULTILINE)[-1]
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        return self._say(step, text, self.steps.get(step) or [done(f"{step}: done")])

    def _say(self, who, text, replies):
        self.asked.append((who, text))
        reply = replies[0] if len(replies) == 1 else replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def requests(self, who):
        return [text for asked, text in self.asked if asked == who]

    @property
    def model(self):
        return ScriptedModel(reply=self.reply)


WORKER = AgentSpec(name="worker", description="Does anything.", tools=["terminate", "ask_human"])
EXPERT = AgentSpec(name="expert", description="Knows numbers.", tools=["terminate"])


@pytest.fixture
def flow(tmp_path):
    def make(cast, agents=(WORKER,), **options):
        options = {"settings": Settings(home=tmp_path), **options}
        return create_plan_flow({agent.name: agent for agent in agents}, model=cast.model, **options)

    return make


def statuses(state):
    return {step.text: step.status for step in state["plan"].steps}


async def test_a_plan_of_strings_is_carried_out_in_order_and_summed_up(flow):
    cast = Cast([planned("collect", "write")])
    state = await flow(cast).ainvoke(TASK)
    assert [who for who, _ in cast.asked] == ["plan", "collect", "write", "finalize"]
    assert (state["status"], state["outcome"].success, state["outcome"].answer) == ("finished", True, "All done.")
    assert state["plan"].progress() == "2/2 steps completed (100.0%)"
    assert [step.result for step in state["plan"].steps] == ["collect: done", "write: done"]
    assert [message.text for message in state["messages"]] == ["make a report", "All done."]


async def test_independent_steps_run_at_once_and_what_depends_on_them_waits(flow):
    free = [{"text": name, "depends_on": []} for name in "abc"]
    cast = Cast([planned(*free, {"text": "join", "depends_on": [0, 1, 2]})])
    await flow(cast).ainvoke(TASK)
    assert cast.most_at_once == 3
    assert [who for who, _ in cast.asked][-2:] == ["join", "finalize"]


async def test_never_more_than_parallel_steps_run_at_once(flow):
    cast = Cast([planned(*[{"text": str(n), "depends_on": []} for n in range(7)])])
    state = await flow(cast, parallel=2).ainvoke(TASK)
    assert cast.most_at_once == 2
    assert state["status"] == "finished"


async def test_a_step_sees_the_plan_the_results_it_builds_on_and_its_own_text_last(flow):
    cast = Cast([planned("collect", "write")], steps={"collect": [done("forty-two files")]})
    await flow(cast).ainvoke(TASK)
    (prompt,) = cast.requests("write")
    assert "0. [✓] collect" in prompt
    assert "1. [→] write" in prompt
    assert "forty-two files" in prompt
    assert prompt.endswith("Current step: write")


async def test_the_planner_is_told_of_the_agents_and_names_one_for_each_step(flow):
    cast = Cast([planned("[EXPERT] count", {"text": "write", "agent": "worker"})])
    state = await flow(cast, [WORKER, EXPERT]).ainvoke(TASK)
    assert "- `expert`: Knows numbers." in cast.requests("plan")[0]
    assert [step.agent for step in state["plan"].steps] == ["expert", "worker"]


@pytest.mark.parametrize("garbage", ["no plan", call("planning", command="create", steps=[]), call("unknown")])
async def test_a_planner_that_gives_garbage_is_asked_again_and_then_the_default_plan_is_taken(flow, garbage):
    cast = Cast([garbage, garbage, garbage])
    state = await flow(cast).ainvoke(TASK)
    assert list(statuses(state)) == ["Analyze request", "Execute task", "Verify results"]
    assert len(cast.requests("plan")) == 2
    assert "not a plan that can be used" in cast.requests("plan")[1] or garbage != "no plan"


async def test_garbage_once_is_mended(flow):
    cast = Cast(["no plan", planned("collect"), planned("collect")])
    assert list(statuses(await flow(cast).ainvoke(TASK))) == ["collect"]


async def test_a_failed_step_is_tried_again_with_what_went_wrong_in_its_prompt(flow):
    cast = Cast([planned("collect")], steps={"collect": [failed("disk is full"), done("ok"), done("ok")]})
    state = await flow(cast).ainvoke(TASK)
    assert state["plan"].steps[0].attempts == 2
    assert "Attempt 1 by worker ended with failure; it said: disk is full." in cast.requests("collect")[1]
    assert statuses(state) == {"collect": "completed"}


async def test_after_its_own_agent_the_primary_one_tries_and_then_the_step_is_blocked(flow):
    cast = Cast([planned("[expert] count")], steps={"count": [failed("no")]}, revise=["Leave it."])
    state = await flow(cast, [WORKER, EXPERT]).ainvoke(TASK)
    (step,) = state["plan"].steps
    assert (step.status, step.attempts, step.agent) == ("blocked", 3, "worker")
    assert [line.split(" ended")[0] for line in step.notes.splitlines()] == [
        "Attempt 1 by expert",
        "Attempt 2 by expert",
        "Attempt 3 by worker",
    ]
    assert (state["status"], state["outcome"].success, state["outcome"].reason) == ("stuck", False, "blocked")


async def test_one_step_that_fails_for_ever_does_not_keep_the_others_from_being_done(flow):
    steps = [{"text": name, "depends_on": []} for name in ("good", "bad")]
    cast = Cast([planned(*steps, {"text": "after", "depends_on": [1]})], steps={"bad": [failed("no")]}, revise=["No."])
    state = await flow(cast).ainvoke(TASK)
    assert statuses(state) == {"good": "completed", "bad": "blocked", "after": "not_started"}
    assert state["status"] == "stuck"
    assert "good: done" in state["outcome"].answer


async def test_a_revision_replaces_what_is_blocked_and_keeps_what_is_done(flow):
    cast = Cast(
        [planned("collect", "fly", "write")],
        steps={"fly": [failed("no wings")]},
        revise=[call("planning", command="update", steps=["collect", "walk", "write"])],
    )
    state = await flow(cast).ainvoke(TASK)
    assert state["status"] == "finished"
    assert statuses(state) == {"collect": "completed", "walk": "completed", "write": "completed"}
    assert len(cast.requests("collect")) == 1
    assert "no wings" in cast.requests("revise")[0]


async def test_revisions_are_bounded(flow):
    again = call("planning", command="mark_step", step_index=0, step_status="not_started")
    cast = Cast([planned("fly")], steps={"fly": [failed("no")]}, revise=[again])
    state = await flow(cast, max_revisions=2).ainvoke(TASK)
    assert len(cast.requests("revise")) == 2
    assert state["status"] == "stuck"


async def test_a_planner_cannot_claim_that_a_step_is_done(flow):
    claim = call("planning", command="mark_step", step_index=0, step_status="completed")
    cast = Cast([planned("fly")], steps={"fly": [failed("no")]}, revise=[claim])
    assert (await flow(cast).ainvoke(TASK))["status"] == "stuck"


@pytest.mark.parametrize(("policy", "revisions"), [("always", 2), ("on_failure", 0), ("never", 0)])
async def test_the_policy_says_when_the_plan_is_looked_at_again(flow, policy, revisions):
    cast = Cast([planned("a", "b", "c")], revise=["It is right as it is."])
    state = await flow(cast, revise=policy).ainvoke(TASK)
    assert len(cast.requests("revise")) == revisions
    assert state["status"] == "finished"


async def test_an_agent_that_runs_into_its_limit_has_not_done_its_step(flow):
    @tool
    def look(n: int) -> str:
        """Look."""
        return str(n)

    cast = Cast([planned("search")], steps={"search": [call("planning", command="get")] * 99}, revise=["No."])
    cast.steps["search"] = [call("planning", command="mark_step", step_index=0, step_notes=str(n)) for n in range(99)]
    state = await flow(cast, [WORKER.model_copy(update={"max_steps": 3})]).ainvoke(TASK)
    assert "ended with limit (max_steps)" in state["plan"].steps[0].notes
    assert state["plan"].steps[0].status == "blocked"


async def test_the_budget_of_the_run_is_shared_and_bounds_all_agents_together(flow):
    cast = Cast([planned(*[{"text": str(n), "depends_on": []} for n in range(4)])])
    state = await flow(cast, max_steps=3).ainvoke(TASK)
    assert (state["status"], state["outcome"].reason) == ("limit", "max_steps")
    assert list(statuses(state).values()) == ["completed"] * 3 + ["not_started"]
    assert state["progress"]["steps"] == 3


async def test_a_run_that_ended_at_its_limit_is_continued_with_a_higher_one(flow):
    cast = Cast([planned("a", "b", "c")])
    graph = flow(cast, max_steps=2, checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(headless=True))
    assert state["status"] == "limit"
    state = await graph.ainvoke(continue_flow(state), THREAD, context=RunContext(headless=True, max_steps=9))
    assert state["status"] == "finished"
    assert [who for who, _ in cast.asked] == ["plan", "a", "b", "c", "finalize"]


async def test_a_step_agent_may_look_at_the_plan_and_change_what_comes_after(flow):
    cast = Cast(
        [
            planned(
                {"text": "a", "depends_on": []}, {"text": "b", "depends_on": []}, {"text": "end", "depends_on": [0, 1]}
            )
        ],
        steps={
            "a": [
                call("planning", command="mark_step", step_index=2, step_notes="from a"),
                call("planning", command="get"),
                done("a"),
            ],
            "b": [call("planning", command="mark_step", step_index=2, step_notes="from b"), done("b")],
        },
    )
    state = await flow(cast).ainvoke(TASK)
    assert state["status"] == "finished"
    assert set(state["plan"].steps[2].notes.splitlines()) == {"from a", "from b"}


async def test_a_step_keeps_the_tool_calls_that_were_made_for_it(flow):
    cast = Cast([planned("a")], steps={"a": [call("unknown"), done("a")]})
    (step,) = (await flow(cast).ainvoke(TASK))["plan"].steps
    assert [(each.tool, each.status) for each in step.executions] == [("unknown", "failed"), ("terminate", "completed")]


async def test_questions_of_parallel_steps_are_answered_in_any_order(flow):
    ask = [{"text": name, "depends_on": []} for name in ("north", "south")]
    cast = Cast(
        [planned(*ask)],
        steps={name: [call("ask_human", inquire=f"{name}?"), done(f"went {name}")] for name in ("north", "south")},
    )
    graph = flow(cast, checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD)
    waiting = {each.value["question"]: each for each in state["__interrupt__"]}
    assert set(waiting) == {"north?", "south?"}
    assert waiting["north?"].value["path"] == ["s1", "worker"]
    state = await graph.ainvoke(Command(resume={waiting["south?"].id: "yes"}), THREAD)
    assert [each.value["question"] for each in state["__interrupt__"]] == ["north?"]
    state = await graph.ainvoke(Command(resume={waiting["north?"].id: "no"}), THREAD)
    assert state["status"] == "finished"
    assert [who for who, _ in cast.asked].count("north") == 2


async def test_a_person_approves_the_plan(flow):
    cast = Cast([planned("collect")])
    graph = flow(cast, approve=True, checkpointer=InMemorySaver())
    (asked,) = (await graph.ainvoke(TASK, THREAD))["__interrupt__"]
    assert (asked.value["kind"], asked.value["options"]) == ("plan", ["approve", "edit", "reject"])
    assert "0. [ ] collect" in asked.value["data"]["text"]
    assert (await graph.ainvoke(Command(resume="approve"), THREAD))["status"] == "finished"


async def test_a_person_edits_the_plan_and_a_bad_edit_is_asked_again(flow):
    cast = Cast([planned("collect")])
    graph = flow(cast, approve=True, checkpointer=InMemorySaver())
    await graph.ainvoke(TASK, THREAD)
    (asked,) = (await graph.ainvoke(Command(resume={"steps": []}), THREAD))["__interrupt__"]
    assert "`steps` is empty" in asked.value["question"]
    state = await graph.ainvoke(Command(resume={"steps": ["collect", "check"]}), THREAD)
    assert list(statuses(state)) == ["collect", "check"]


async def test_a_rejected_plan_is_not_carried_out(flow):
    cast = Cast([planned("collect")])
    graph = flow(cast, approve=True, checkpointer=InMemorySaver())
    await graph.ainvoke(TASK, THREAD)
    state = await graph.ainvoke(Command(resume={"reject": "too dear"}), THREAD)
    assert (state["status"], state["outcome"].reason) == ("rejected", "too dear")
    assert [who for who, _ in cast.asked] == ["plan"]


async def test_a_summary_that_fails_does_not_lose_the_results(flow):
    cast = Cast([planned("collect")], summary={"error": {"status": 401, "message": "no"}})
    state = await flow(cast).ainvoke(TASK)
    assert state["status"] == "finished"
    assert "collect: done" in state["outcome"].answer


async def test_a_planner_that_cannot_be_reached_ends_the_run_and_the_task_can_be_taken_up_again(flow):
    cast = Cast([{"error": {"status": 401, "message": "bad key"}}, planned("collect")])
    graph = flow(cast, checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD)
    assert (state["status"], state["plan"]) == ("error", None)
    assert "bad key" in state["outcome"].reason
    assert (await graph.ainvoke(continue_flow(state), THREAD))["status"] == "finished"


async def test_the_library_holds_the_published_plan_with_its_thread(flow):
    store = InMemoryStore()
    state = await flow(Cast([planned("collect")]), checkpointer=InMemorySaver(), store=store).ainvoke(TASK, THREAD)
    entry = await PlanLibrary(store).get(state["plan"].id)
    assert entry.thread == "t"
    assert entry.plan == state["plan"]


async def test_a_new_task_on_an_ended_thread_gets_a_new_plan(flow):
    cast = Cast([planned("collect", title="First"), planned("build", title="Second")])
    graph = flow(cast, checkpointer=InMemorySaver())
    first = await graph.ainvoke(TASK, THREAD)
    state = await graph.ainvoke({"messages": [("user", "build it")]}, THREAD)
    assert (state["plan"].title, statuses(state)) == ("Second", {"build": "completed"})
    assert state["plan"].id != first["plan"].id


async def test_graphs_and_names_are_agents_too(flow, tmp_path):
    from clew.graphs import create_agent

    cast = Cast([planned("[own] a", "[manus] b")])
    own = create_agent(WORKER, model=cast.model, settings=Settings(home=tmp_path))
    graph = create_plan_flow({"own": own, "manus": "manus"}, model=cast.model, settings=Settings(home=tmp_path))
    assert (await graph.ainvoke(TASK))["status"] == "finished"
    nodes = set(graph.get_graph(xray=1).nodes)
    assert "execute_step_own" in " ".join(nodes)


def test_sync_calls_run_the_same_graph(flow):
    assert flow(Cast([planned("a", "b")])).invoke(TASK)["status"] == "finished"


def test_the_drawing_shows_every_way_that_a_run_can_take(flow):
    edges = {(edge.source, edge.target) for edge in flow(Cast([]), approve=True).get_graph().edges}
    assert edges == {
        ("__start__", "create_plan"),
        ("create_plan", "approve_plan"),
        ("approve_plan", "schedule"),
        ("approve_plan", "finalize"),
        ("schedule", "execute_step"),
        ("schedule", "finalize"),
        ("execute_step", "record"),
        ("record", "revise"),
        ("record", "schedule"),
        ("revise", "schedule"),
        ("finalize", "__end__"),
    }


def test_a_plan_needs_an_agent():
    with pytest.raises(UsageError, match="at least one agent"):
        create_plan_flow({}, settings=Settings())
