from typing import Annotated

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.types import Send
from typing_extensions import NotRequired, TypedDict

from clew.state.errors import PlanError
from clew.state.plan import Plan, PlanStep, ToolExecution
from clew.state.plan_draft import create_plan
from clew.state.plan_fold import apply_operations, fold_plan, merge_plan
from clew.state.plan_operation import (
    AddStep,
    ClosePlan,
    FinishStep,
    MarkStep,
    OpenPlan,
    RemoveStep,
    StartStep,
    dump_operations,
    read_operations,
)
from clew.state.plan_schedule import ready_steps

PLAN = create_plan("plan_1", "Trends", ["a", "b", "c"])


def test_an_attempt_is_counted_timed_and_tracked():
    execution = ToolExecution(tool="bash", status="failed", call_id="call_1")
    plan = apply_operations(PLAN, [StartStep(step="s1", agent="swe", at=10.0)])
    assert plan.step("s1").model_dump(include={"status", "attempts", "started", "ended", "agent"}) == {
        "status": "in_progress",
        "attempts": 1,
        "started": 10.0,
        "ended": None,
        "agent": "swe",
    }
    plan = apply_operations(
        plan, [FinishStep(step="s1", status="not_started", note="timed out", executions=[execution], at=12.5)]
    )
    plan = apply_operations(plan, [StartStep(step="s1", at=20.0)])
    plan = apply_operations(plan, [FinishStep(step="s1", status="completed", result="done", at=21.0)])
    step = plan.step("s1")
    assert (step.status, step.attempts, step.result, step.notes) == ("completed", 2, "done", "timed out")
    assert (step.started, step.ended, step.executions) == (20.0, 21.0, [execution])


def test_what_was_earned_outranks_every_claim_in_the_batch():
    claims = [MarkStep(step="s1", status="completed", origin="s1"), MarkStep(step="s1", status="blocked", origin="s2")]
    earned = FinishStep(step="s1", status="not_started", note="step limit", origin="s1")
    assert apply_operations(PLAN, [earned, *claims]).step("s1").status == "not_started"


def test_a_note_is_added_once():
    note = MarkStep(step="s1", note="two sources")
    plan = apply_operations(PLAN, [note, MarkStep(step="s1", note="two"), note])
    assert plan.step("s1").notes == "two sources\ntwo"


def test_operations_on_a_step_that_is_gone_do_nothing():
    assert apply_operations(PLAN, [MarkStep(step="s9", note="x"), RemoveStep(step="s9")]) == PLAN


def test_what_waited_for_a_removed_step_waits_for_what_that_waited_for():
    plan = apply_operations(PLAN, [RemoveStep(step="s2")])
    assert (plan.step("s3").depends_on, plan.retired) == (["s1"], ["s2"])


def test_neither_started_work_nor_the_last_step_is_removed():
    plan = apply_operations(PLAN, [MarkStep(step="s1", status="completed"), MarkStep(step="s2", status="in_progress")])
    removed = apply_operations(plan, [RemoveStep(step=step.id) for step in plan.steps])
    assert [step.id for step in removed.steps] == ["s1", "s2"]
    assert len(apply_operations(PLAN, [RemoveStep(step=step.id) for step in PLAN.steps]).steps) == 1


def test_adding_the_same_step_twice_is_adding_it_once_and_another_text_gets_another_id():
    first = AddStep(step="s1.1", text="check", after="s1", depends_on=["s1"], origin="s1")
    second = AddStep(step="s1.1", text="publish", after="s1.1", depends_on=["s1"], origin="s1")
    third = AddStep(step="s1.5", text="tell", after="s1.1", depends_on=["s1.1"], origin="s1")
    plan = apply_operations(PLAN, [first, first, second, third])
    assert [(step.id, step.text, step.depends_on) for step in plan.steps[1:4]] == [
        ("s1.1", "check", ["s1"]),
        ("s1.2", "publish", ["s1"]),
        ("s1.5", "tell", ["s1.2"]),
    ]


def test_a_thread_opens_changes_and_closes_plans():
    other = create_plan("plan_2", "Other", ["x"])
    note = MarkStep(step="s1", note="n")
    assert fold_plan(None, [note]) is None
    assert fold_plan(None, [note, OpenPlan(plan=PLAN), note]) == apply_operations(PLAN, [note])
    assert fold_plan(PLAN, [OpenPlan(plan=other), ClosePlan(plan_id="plan_1")]) == other
    assert fold_plan(PLAN, [ClosePlan(plan_id="plan_1")]) is None


def test_the_reducer_of_a_channel_takes_a_plan_none_and_operations_as_json():
    data = dump_operations([OpenPlan(plan=PLAN), MarkStep(step="s2", status="blocked", note="no access")])
    plan = merge_plan(None, data)
    assert (plan.step("s2").mark, plan.step("s2").notes) == ("[!]", "no access")
    assert merge_plan(plan, []) == plan
    assert merge_plan(plan, PLAN) == PLAN
    assert merge_plan(plan, None) is None


class FlowState(TypedDict):
    plan: Annotated[Plan | None, merge_plan]
    step: NotRequired[str]


async def test_parallel_steps_of_a_graph_fold_into_one_plan_that_comes_back_from_a_strict_checkpoint():
    def schedule(state: FlowState) -> dict:
        return {"plan": dump_operations([StartStep(step=step.id) for step in ready_steps(state["plan"], 8)])}

    def dispatch(state: FlowState) -> list[Send]:
        return [Send("execute", {"step": step.id}) for step in state["plan"].steps if step.status == "in_progress"]

    def execute(state: FlowState) -> dict:
        step = state["step"]
        added = AddStep(step=f"{step}.1", text=f"check {step}", after=step, depends_on=[step], origin=step)
        done = FinishStep(step=step, status="completed", result=f"result of {step}", origin=step)
        return {"plan": dump_operations([added, done])}

    builder = StateGraph(FlowState).add_node(schedule).add_node(execute).add_edge(START, "schedule")
    builder.add_conditional_edges("schedule", dispatch, ["execute"])
    serializer = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=(Plan, PlanStep, ToolExecution))
    graph = builder.compile(checkpointer=InMemorySaver(serde=serializer))
    config = {"configurable": {"thread_id": "t"}}
    parts = [{"text": f"part {place}", "depends_on": []} for place in range(8)]
    reply = await graph.ainvoke({"plan": create_plan("p", "T", parts)}, config)
    assert reply["plan"].progress() == "8/16 steps completed (50.0%)"
    assert [step.id for step in ready_steps(reply["plan"], 99)] == [f"s{place}.1" for place in range(1, 9)]
    assert (await graph.aget_state(config)).values["plan"] == reply["plan"]


def test_operations_pass_through_json_and_what_is_none_is_refused():
    batch = [
        StartStep(step="s1", agent="swe", at=1.5),
        FinishStep(step="s1", status="completed", executions=[ToolExecution(tool="bash", status="completed")]),
        AddStep(step="s4", text="d", depends_on=["s1"], after=None, origin="s1"),
        OpenPlan(plan=PLAN),
    ]
    assert read_operations(dump_operations(batch)) == batch
    with pytest.raises(PlanError, match="Not an operation on a plan"):
        read_operations([{"op": "explode", "step": "s1"}])


def test_a_thousand_marks_are_folded_in_one_pass():
    plan = create_plan("p", "t", [f"Measure {place}" for place in range(200)])
    marks = [MarkStep(step=f"s{1 + place % 200}", status="completed", note=f"{place // 200}") for place in range(1000)]
    folded = apply_operations(plan, marks)
    assert folded.progress() == "200/200 steps completed (100.0%)"
    assert all(step.notes == "0\n1\n2\n3\n4" for step in folded.steps)
