import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans_at_random import operations, plans, step_lists, texts

from clew.state.errors import PlanError
from clew.state.plan import STARTED, find_cycle
from clew.state.plan_draft import create_plan, read_steps
from clew.state.plan_edit import match_steps, update_operations, update_plan
from clew.state.plan_fold import apply_operations
from clew.state.plan_operation import EditStep, FinishStep, MarkStep, dump_operations, read_operations

SEED = ["Search for recent AI trends", "Extract key findings", "Write summary document"]


def plan_with_first_done(items=SEED):
    done = FinishStep(step="s1", status="completed", result="12 sources", note="2 paywalled")
    return apply_operations(create_plan("plan_001", "Trends", items), [done])


def shown(plan):
    return [(step.id, step.status, step.text) for step in plan.steps]


def test_inserting_a_step_at_the_front_keeps_what_is_done():
    plan = update_plan(plan_with_first_done(), items=["Agree on the scope", *SEED])
    assert shown(plan) == [
        ("s4", "not_started", "Agree on the scope"),
        ("s1", "completed", SEED[0]),
        ("s2", "not_started", SEED[1]),
        ("s3", "not_started", SEED[2]),
    ]
    assert (plan.step("s1").result, plan.step("s1").notes) == ("12 sources", "2 paywalled")
    assert [step.depends_on for step in plan.steps] == [[], ["s4"], ["s1"], ["s2"]]


@pytest.mark.parametrize(
    "reworded",
    ["search for recent  AI trends", "Search for the most recent AI trends", "Search for recent AI trends in industry"],
)
def test_rewording_a_completed_step_keeps_what_is_done(reworded):
    plan = update_plan(plan_with_first_done(), items=[reworded, *SEED[1:]])
    assert shown(plan)[0] == ("s1", "completed", reworded)
    assert plan.step("s1").result == "12 sources"
    assert len(plan.steps) == 3


def test_a_completed_step_that_the_update_leaves_out_is_kept_at_its_place():
    plan = update_plan(plan_with_first_done(), items=["Ask a reviewer", SEED[2]])
    assert shown(plan) == [
        ("s1", "completed", SEED[0]),
        ("s4", "not_started", "Ask a reviewer"),
        ("s3", "not_started", SEED[2]),
    ]
    assert plan.retired == ["s2"]


def test_a_step_in_progress_that_the_update_leaves_out_is_kept():
    running = apply_operations(plan_with_first_done(), [MarkStep(step="s2", status="in_progress")])
    assert [step.id for step in update_plan(running, items=[SEED[2]]).steps] == ["s1", "s2", "s3"]


def test_a_removed_id_is_never_given_again():
    plan = update_plan(plan_with_first_done(), items=SEED[:2])
    assert [step.id for step in update_plan(plan, items=[*SEED[:2], "Publish"]).steps] == ["s1", "s2", "s4"]
    with pytest.raises(PlanError, match="'s3' belonged to a step that was removed"):
        update_plan(plan, items=[{"id": "s3", "text": "Publish"}])


def test_an_id_is_stronger_than_text_and_text_than_likeness():
    plan = plan_with_first_done()
    drafts = read_steps([{"id": "s3", "text": SEED[0]}, SEED[1], "Extract the key findings", SEED[0]])
    assert match_steps(plan.steps, drafts) == {0: "s3", 1: "s2", 3: "s1"}


def test_equal_texts_are_matched_in_order():
    plan = plan_with_first_done(["Run the tests", "Mend", "Run the tests"])
    updated = update_plan(plan, items=["Prepare", "Run the tests", "Mend", "Run the tests"])
    assert [step.id for step in updated.steps] == ["s4", "s1", "s2", "s3"]


@pytest.mark.parametrize(
    ("done", "other"),
    [
        ("Analyse the data of 2023", "Analyse the data of 2024"),
        ("Test module A", "Test module B"),
        ("Write the code", "Write the docs"),
        ("Read chapter 3", "Read chapter 4"),
    ],
)
def test_other_work_does_not_pass_for_work_that_is_done(done, other):
    plan = update_plan(plan_with_first_done([done, "Report"]), items=[other, "Report"])
    assert shown(plan)[:2] == [("s1", "completed", done), ("s3", "not_started", other)]


def test_a_step_that_is_not_begun_may_have_a_word_swapped():
    plan = update_plan(
        create_plan("p", "t", ["Gather all the data", "Report"]), items=["Collect all the data", "Report"]
    )
    assert shown(plan)[0] == ("s1", "not_started", "Collect all the data")


def test_reversing_a_plan_reverses_its_dependencies():
    plan = update_plan(create_plan("p", "t", SEED), items=SEED[::-1])
    assert [(step.id, step.depends_on) for step in plan.steps] == [("s3", []), ("s2", ["s3"]), ("s1", ["s2"])]


def test_an_agent_that_the_update_does_not_name_stays():
    plan = create_plan("p", "t", ["[SWE] Mend the code", "Report"])
    assert update_plan(plan, items=["Mend the code", "Report"]).steps[0].agent == "swe"
    assert update_plan(plan, items=["[MANUS] Mend the code", "Report"]).steps[0].agent == "manus"


def test_a_title_alone_leaves_the_steps():
    plan = plan_with_first_done()
    assert update_plan(plan, title="Other").steps == plan.steps
    assert update_plan(plan, title="Other").title == "Other"


@pytest.mark.parametrize(("title", "items"), [(None, None), ("", None), (None, []), ("Other", [])])
def test_an_update_of_nothing_or_to_nothing_is_refused(title, items):
    with pytest.raises(PlanError):
        update_plan(plan_with_first_done(), title=title, items=items)


def test_an_update_to_what_the_plan_is_asks_for_nothing():
    assert update_operations(plan_with_first_done(), "Trends", SEED) == []


def test_parallel_updates_keep_each_others_steps_and_dependencies():
    plan = create_plan("p", "t", [{"text": "a"}, {"text": "b", "depends_on": []}, {"text": "c", "depends_on": [0, 1]}])
    plan = apply_operations(plan, [MarkStep(step=step, status="in_progress") for step in ("s1", "s2")])
    report = {"text": "c", "depends_on": [0, 1, 2]}
    of_b = update_operations(plan, None, ["a", {"text": "b", "depends_on": []}, "check b", report], origin="s2")
    of_a = update_operations(plan, None, ["a", {"text": "b", "depends_on": []}, "check a", report], origin="s1")
    merged = apply_operations(plan, of_b + of_a)
    assert merged == apply_operations(plan, of_a + of_b)
    assert {step.id for step in merged.steps} == {"s1", "s2", "s3", "s1.1", "s2.1"}
    assert set(merged.step("s3").depends_on) == {"s1", "s2", "s1.1", "s2.1"}


def earned(plan):
    return {step.id: (step.notes, step.result, step.attempts) for step in plan.steps if step.status == "completed"}


@given(st.data(), plans())
def test_an_update_gives_the_steps_that_were_asked_for_in_that_order_with_those_dependencies(data, plan):
    items = data.draw(step_lists(plan))
    drafts, updated = read_steps(items), update_plan(plan, items=items)
    kept = {step.id for step in plan.steps if step.status in STARTED}
    matched = set(match_steps(plan.steps, drafts).values())
    asked = [step for step in updated.steps if step.id not in kept - matched]
    assert [step.text for step in asked] == [draft.text for draft in drafts]
    assert [set(step.depends_on) for step in asked] == [{asked[at].id for at in draft.depends_on} for draft in drafts]
    assert not set(updated.retired) & {step.id for step in updated.steps}


@given(st.data(), plans())
def test_no_completed_work_is_lost_under_any_sequence_of_edits(data, plan):
    for _ in range(data.draw(st.integers(1, 4))):
        before = earned(plan)
        plan = update_plan(plan, data.draw(st.none() | texts), data.draw(step_lists(plan)))
        after = earned(plan)
        assert before == after
        assert find_cycle(plan.steps) == []
        finished = data.draw(st.sampled_from(plan.steps)).id
        plan = apply_operations(plan, [FinishStep(step=finished, status="completed", result=f"{finished} done")])


@given(st.data(), plans())
def test_updating_twice_with_the_same_list_changes_nothing_the_second_time(data, plan):
    items = [step.text for step in plan.steps] + data.draw(st.lists(texts, max_size=2))
    once = update_plan(plan, items=items)
    if len({step.text.casefold() for step in once.steps}) == len(once.steps):
        assert update_plan(once, items=[step.text for step in once.steps]) == once


@given(st.data(), plans())
def test_the_operations_of_parallel_steps_fold_to_the_same_plan_however_they_are_mixed(data, plan):
    origins = data.draw(st.lists(st.sampled_from([step.id for step in plan.steps]), unique=True, max_size=3))
    batches = [data.draw(st.lists(operations(plan, origin), max_size=4)) for origin in ["", *origins]]
    mixed = [operation for batch in data.draw(st.permutations(batches)) for operation in batch]
    assert apply_operations(plan, mixed) == apply_operations(plan, [item for batch in batches for item in batch])


@given(st.data(), plans())
def test_any_operations_leave_a_valid_plan_that_has_all_that_was_completed(data, plan):
    batch = data.draw(st.lists(operations(plan), max_size=8))
    folded = apply_operations(plan, read_operations(dump_operations(batch)))
    assert folded == apply_operations(plan, batch)
    assert {step.id for step in plan.steps if step.status in STARTED} <= {step.id for step in folded.steps}
    reopened = {item.step for item in batch if isinstance(item, FinishStep)}
    assert earned(plan).keys() - reopened <= earned(folded).keys()


def test_edits_that_would_close_a_circle_together_lose_the_later_dependency_only():
    plan = create_plan("p", "t", [{"text": name, "depends_on": []} for name in "abcd"])
    folded = apply_operations(
        plan,
        [EditStep(step="s4", wait_for=["s3"], origin="s2"), EditStep(step="s3", wait_for=["s4", "s2"], origin="s1")],
    )
    assert (folded.step("s3").depends_on, folded.step("s4").depends_on) == (["s2", "s4"], [])


def test_two_hundred_reworded_steps_are_each_found_again():
    old = create_plan("p", "t", [f"Measure the flow of river number {place}" for place in range(200)])
    new = [f"Measure once more the flow of river number {place}" for place in range(200)]
    assert [step.id for step in update_plan(old, items=new).steps] == [step.id for step in old.steps]
