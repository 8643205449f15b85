from hypothesis import given
from hypothesis import strategies as st
from plans_at_random import plans

from clew.state.plan import Plan, PlanStep
from clew.state.plan_draft import create_plan
from clew.state.plan_fold import apply_operations
from clew.state.plan_operation import FinishStep, StartStep
from clew.state.plan_schedule import current_step, is_done, is_stalled, ready_steps


def plan_with(statuses):
    plan = create_plan("p", "t", ["a", {"text": "b", "depends_on": []}, {"text": "c", "depends_on": [0, 1]}])
    return plan.with_steps(
        step.model_copy(update={"status": status}) for step, status in zip(plan.steps, statuses, strict=True)
    )


def ready(plan, limit=9):
    return [step.id for step in ready_steps(plan, limit)]


def test_independent_steps_are_ready_together_up_to_the_limit():
    plan = plan_with(["not_started"] * 3)
    assert ready(plan) == ["s1", "s2"]
    assert ready(plan, 1) == ["s1"]


def test_steps_in_progress_take_their_room():
    assert ready(plan_with(["in_progress", "not_started", "not_started"]), 1) == []
    assert ready(plan_with(["in_progress", "not_started", "not_started"]), 2) == ["s2"]


def test_a_step_that_depends_on_a_blocked_one_waits_and_the_plan_is_stalled_when_nothing_else_can_begin():
    half = plan_with(["blocked", "not_started", "not_started"])
    assert ready(half) == ["s2"]
    assert not is_stalled(half)
    stuck = plan_with(["blocked", "completed", "not_started"])
    assert ready(stuck) == []
    assert is_stalled(stuck)
    assert not is_done(stuck)


def test_a_plan_whose_steps_run_is_not_stalled_and_a_finished_one_is_done():
    assert not is_stalled(plan_with(["in_progress", "blocked", "not_started"]))
    done = plan_with(["completed"] * 3)
    assert is_done(done)
    assert not is_stalled(done)
    assert current_step(done) is None


def test_the_current_step_is_the_first_that_is_in_progress_or_ready():
    assert current_step(plan_with(["not_started", "in_progress", "not_started"])).id == "s1"
    assert current_step(plan_with(["blocked", "in_progress", "not_started"])).id == "s2"
    assert current_step(plan_with(["blocked", "completed", "not_started"])) is None


@given(plans(), st.integers(1, 4))
def test_no_step_is_ready_before_its_dependencies_and_never_more_run_than_the_limit(plan, limit):
    chosen = ready_steps(plan, limit)
    assert all(plan.step(other).status == "completed" for step in chosen for other in step.depends_on)
    assert all(step.status == "not_started" for step in chosen)
    assert len(chosen) + plan.count("in_progress") <= max(limit, plan.count("in_progress"))
    assert [step for step in plan.steps if step in chosen] == chosen


@given(st.data(), plans(), st.integers(1, 4))
def test_running_what_is_ready_ends_with_every_step_done_or_a_stalled_plan(data, plan, limit):
    fresh = {"status": "not_started", "attempts": 0}
    plan = plan.with_steps(step.model_copy(update=fresh) for step in plan.steps)
    begun = []
    for _ in range(4 * len(plan.steps)):
        chosen = ready_steps(plan, limit)
        begun.extend(step.id for step in chosen)
        plan = apply_operations(plan, [StartStep(step=step.id) for step in chosen])
        running = [step.id for step in plan.steps if step.status == "in_progress"]
        assert len(running) <= limit
        if not running:
            break
        ended = data.draw(st.sampled_from(running))
        status = data.draw(st.sampled_from(["completed", "completed", "blocked"]))
        plan = apply_operations(plan, [FinishStep(step=ended, status=status)])
    assert is_done(plan) or is_stalled(plan)
    assert len(begun) == len(set(begun))
    assert all(step.attempts == (step.id in begun) for step in plan.steps)


def test_two_hundred_steps_are_scheduled_in_waves_of_the_limit():
    items = [{"text": f"Measure {place}", "depends_on": []} for place in range(200)]
    plan, waves = create_plan("p", "t", items), 0
    while chosen := ready_steps(plan, 8):
        waves += 1
        plan = apply_operations(plan, [StartStep(step=step.id) for step in chosen])
        plan = apply_operations(plan, [FinishStep(step=step.id, status="completed") for step in chosen])
    assert (waves, is_done(plan)) == (25, True)


def test_a_plan_of_one_step_that_is_blocked_is_stalled():
    assert is_stalled(Plan(id="p", title="t", steps=[PlanStep(id="s1", text="a", status="blocked")]))
