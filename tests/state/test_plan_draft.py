import pytest

from clew.state.errors import PlanError
from clew.state.plan_draft import StepArgument, create_plan, fresh_id, read_steps

AGENTS = ["manus", "data_analysis"]


def dependencies(items):
    return [draft.depends_on for draft in read_steps(items)]


def test_strings_run_in_order():
    assert dependencies(["a", "b", "c"]) == [[], [0], [1]]


def test_objects_without_depends_on_wait_for_the_step_before_and_an_empty_list_means_independent():
    assert dependencies([{"text": "a"}, {"text": "b"}, {"text": "c", "depends_on": []}]) == [[], [0], []]


def test_two_independent_analyses_and_a_report_that_depends_on_both():
    items = ["inventory", {"text": "a", "depends_on": [0]}, {"text": "b", "depends_on": [0]}]
    assert dependencies([*items, {"text": "report", "depends_on": [2, 1, 2]}]) == [[], [0], [0], [1, 2]]


def test_a_string_after_an_independent_object_waits_for_that_object_alone():
    assert dependencies(["a", {"text": "b", "depends_on": []}, "c"]) == [[], [], [1]]


@pytest.mark.parametrize("tag", ["[DATA_ANALYSIS]", "[data_analysis]", "[Data Analysis]", "  [data-analysis]  "])
def test_a_leading_tag_names_the_agent_in_any_case(tag):
    (draft,) = read_steps([f"{tag} Plot the prices"], AGENTS)
    assert (draft.agent, draft.text) == ("data_analysis", "Plot the prices")


def test_a_tag_that_names_no_agent_stays_in_the_text():
    (draft,) = read_steps(["[URGENT] Plot the prices"], AGENTS)
    assert (draft.agent, draft.text) == (None, "[URGENT] Plot the prices")


def test_where_the_agents_are_not_known_every_tag_names_one():
    (draft,) = read_steps(["[SWE] Mend the test"])
    assert (draft.agent, draft.text) == ("swe", "Mend the test")


@pytest.mark.parametrize("text", ["[x] Mend it", "[ ] Mend it", "Mend [it] now", "[SWE]"])
def test_a_box_a_tag_inside_and_a_tag_without_text_are_text(text):
    (draft,) = read_steps([text])
    assert (draft.agent, draft.text) == (None, text)


def test_an_object_names_its_agent_in_any_case_and_an_unknown_one_is_refused():
    assert read_steps([{"text": "a", "agent": "Data_Analysis"}], AGENTS)[0].agent == "data_analysis"
    with pytest.raises(PlanError, match="the agents are manus, data_analysis"):
        read_steps([{"text": "a", "agent": "poet"}], AGENTS)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "at least one step"),
        (["a", "  "], "Step 1 has no text"),
        ([{"text": ""}], "Step 0 has no text"),
        ([{"text": "a", "depends_on": [0]}], "Step 0 depends on step 0, which is not before it"),
        (["a", {"text": "b", "depends_on": [7]}], "Step 1 depends on step 7"),
        (["a", {"text": "b", "depends_on": [-1]}], "Step 1 is malformed"),
        ([{"text": "b", "depends_on": [True]}], "Step 0 is malformed"),
        ([{"task": "a"}], "Step 0 is malformed, text"),
        ([{"text": "a", "id": "two words"}], "Step 0 is malformed, id"),
        ([3], "Step 0 is malformed"),
        ([{"text": "a", "id": "x"}, {"text": "b", "id": "x"}], "Two steps have the id 'x'"),
    ],
)
def test_broken_lists_are_refused_with_the_place_of_the_fault(items, message):
    with pytest.raises(PlanError, match=message):
        read_steps(items)


def test_steps_are_named_in_order_beside_the_ids_that_are_given():
    items = ["a", StepArgument(id="s1", text="b"), {"id": "report", "text": "c"}, "d"]
    plan = create_plan("p", "t", items)
    assert [step.id for step in plan.steps] == ["s2", "s1", "report", "s3"]
    assert [step.depends_on for step in plan.steps] == [[], ["s2"], ["s1"], ["report"]]


def test_the_plan_of_the_seed():
    steps = ["Search for recent AI trends", "Extract key findings", "Write summary document"]
    plan = create_plan("plan_001", "Research and summarize AI trends", steps)
    assert [step.text for step in plan.steps] == steps
    assert [step.status for step in plan.steps] == ["not_started"] * 3
    assert [step.notes for step in plan.steps] == [""] * 3


def test_a_fresh_id_follows_the_highest_and_is_kept_apart_by_the_step_that_asks():
    assert fresh_id(["s1", "s7", "report", "s7.4"]) == "s8"
    assert fresh_id(["s1", "s7", "s7.4"], "s7") == "s7.5"
    assert fresh_id(["s1", "s7"], "s1") == "s1.1"
