import pytest
from hypothesis import given
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from plans_at_random import plans

from clew.state.errors import PlanError
from clew.state.plan import Plan, PlanStep, ToolExecution, find_cycle


def plan_of(*statuses, **fields):
    steps = [PlanStep(id=f"s{place}", text=f"Step {place}", status=status) for place, status in enumerate(statuses)]
    return Plan(id="plan_1", title="Trends", steps=steps, **fields)


def test_progress_of_the_seed_three_of_seven_is_floored_to_one_decimal():
    plan = plan_of(*["completed"] * 3, *["not_started"] * 4)
    assert plan.progress() == "3/7 steps completed (42.8%)"


@pytest.mark.parametrize(
    ("completed", "total", "share"),
    [(0, 3, "0.0"), (1, 3, "33.3"), (2, 3, "66.6"), (3, 3, "100.0"), (999, 1000, "99.9")],
)
def test_progress_never_rounds_up(completed, total, share):
    plan = plan_of(*["completed"] * completed, *["not_started"] * (total - completed))
    assert plan.progress() == f"{completed}/{total} steps completed ({share}%)"


def test_a_plan_is_drawn_with_title_progress_numbers_marks_ids_agents_dependencies_and_notes():
    plan = Plan(
        id="plan_001",
        title="Research and summarize AI trends",
        steps=[
            PlanStep(id="s1", text="Search for recent AI trends", status="completed", notes="12 sources\n2 paywalled"),
            PlanStep(id="s2", text="Extract key findings", status="in_progress", depends_on=["s1"]),
            PlanStep(id="s3", text="Draw charts", status="blocked", agent="data_analysis", depends_on=["s1"]),
            PlanStep(id="s4", text="Write summary document", depends_on=["s2", "s3"]),
        ],
    )
    assert plan.render() == (
        "Plan: Research and summarize AI trends (ID: plan_001)\n"
        "=====================================================\n"
        "\n"
        "Progress: 1/4 steps completed (25.0%)\n"
        "Status: 1 completed, 1 in progress, 1 blocked, 1 not started\n"
        "\n"
        "Steps:\n"
        "0. [✓] Search for recent AI trends (id s1)\n"
        "   Notes: 12 sources\n"
        "   Notes: 2 paywalled\n"
        "1. [→] Extract key findings (id s2; after 0)\n"
        "2. [!] Draw charts (id s3; agent data_analysis; after 0)\n"
        "3. [ ] Write summary document (id s4; after 1, 2)"
    )


def test_a_plan_without_steps_is_refused():
    with pytest.raises(PlanError, match="at least one step"):
        Plan(id="p", title="t", steps=[])


@pytest.mark.parametrize("fields", [{"id": " "}, {"title": ""}])
def test_a_plan_without_id_or_title_is_refused(fields):
    with pytest.raises(PlanError, match="needs a"):
        Plan(**{"id": "p", "title": "t", "steps": [PlanStep(id="s1", text="x")]} | fields)


def test_two_steps_of_one_id_are_refused():
    with pytest.raises(PlanError, match="Two steps have the id 's1'"):
        Plan(id="p", title="t", steps=[PlanStep(id="s1", text="a"), PlanStep(id="s1", text="b")])


def test_a_dependency_on_a_step_that_there_is_not_is_refused():
    with pytest.raises(PlanError, match="depends on 's9', which is not a step"):
        Plan(id="p", title="t", steps=[PlanStep(id="s1", text="a", depends_on=["s9"])])


def test_a_circle_of_dependencies_is_refused_and_named():
    steps = [
        PlanStep(id="s0", text="free"),
        PlanStep(id="s1", text="a", depends_on=["s2", "s0"]),
        PlanStep(id="s2", text="b", depends_on=["s3"]),
        PlanStep(id="s3", text="c", depends_on=["s1"]),
    ]
    with pytest.raises(PlanError, match="s1 → s2 → s3 → s1"):
        Plan(id="p", title="t", steps=steps)


def test_a_step_that_waits_for_itself_is_a_circle():
    assert find_cycle([PlanStep(id="s1", text="a", depends_on=["s1"])]) == ["s1", "s1"]


@pytest.mark.parametrize("index", [-1, 2, 100])
def test_an_index_outside_the_plan_is_refused_and_the_range_named(index):
    with pytest.raises(PlanError, match=rf"step_index {index} is out of range.*0 to 1"):
        plan_of("completed", "blocked").step_at(index)


def test_steps_are_found_by_id_and_an_unknown_id_names_the_known_ones():
    plan = plan_of("completed", "blocked")
    assert plan.step("s1") is plan.steps[1]
    with pytest.raises(PlanError, match="its steps are s0, s1"):
        plan.step("s7")


def test_a_plan_of_two_thousand_chained_steps_is_checked_without_recursion():
    steps = [PlanStep(id=f"s{n}", text="x", depends_on=[f"s{n - 1}"] if n else []) for n in range(2000)]
    assert len(Plan(id="p", title="t", steps=steps).steps) == 2000


@given(plans())
def test_a_plan_survives_strict_msgpack_and_json_unchanged(plan):
    execution = ToolExecution(tool="bash", status="completed", call_id="call_1")
    plan = plan.with_steps([step.model_copy(update={"executions": [execution]}) for step in plan.steps])
    serializer = JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=(Plan, PlanStep, ToolExecution))
    assert serializer.loads_typed(serializer.dumps_typed(plan)) == plan
    assert Plan.model_validate(plan.model_dump(mode="json")) == plan
