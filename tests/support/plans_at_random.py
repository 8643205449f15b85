"""Hypothesis strategies for plans, step lists and operations."""

from hypothesis import strategies as st

from clew.state.plan import Plan, PlanStep
from clew.state.plan_operation import AddStep, EditStep, FinishStep, MarkStep, RemoveStep, ReorderSteps, RetitlePlan

STATUSES = ["not_started", "in_progress", "completed", "blocked"]
WORDS = ["collect", "data", "write", "the", "report", "test", "module", "A", "B", "2023", "2024", "charts", "review"]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


@st.composite
def plans(draw, max_size=8):
    steps = []
    for place in range(draw(st.integers(1, max_size))):
        status = draw(st.sampled_from(STATUSES))
        steps.append(
            PlanStep(
                id=f"s{place + 1}",
                text=draw(texts),
                depends_on=sorted(draw(st.sets(st.sampled_from([step.id for step in steps])))) if steps else [],
                status=status,
                notes=draw(st.sampled_from(["", "checked twice"])),
                result=f"result of s{place + 1}" if status == "completed" else "",
                attempts=draw(st.integers(0, 2)),
            )
        )
    return Plan(id="plan_1", title="Anything", steps=steps)


@st.composite
def step_lists(draw, plan):
    """A rewritten list of steps: old texts, reworded ones, other ones; strings and objects, some with ids."""
    items = []
    for place in range(draw(st.integers(1, 8))):
        old = draw(st.sampled_from(plan.steps))
        text = draw(st.one_of(st.just(old.text), texts, texts.map(lambda words, old=old: f"{old.text} {words}")))
        if draw(st.booleans()):
            items.append(text)
            continue
        item = {"text": text}
        if draw(st.booleans()) and old.id not in [other.get("id") for other in items if isinstance(other, dict)]:
            item["id"] = old.id
        if draw(st.booleans()):
            item["depends_on"] = sorted(draw(st.sets(st.integers(0, place - 1)))) if place else []
        items.append(item)
    return items


@st.composite
def operations(draw, plan, origin=""):
    """Any operation on steps that the plan has, had, or never had."""
    step_ids = st.sampled_from([*(step.id for step in plan.steps), "s99"])
    several = st.lists(step_ids, max_size=3)
    kind = draw(st.sampled_from([AddStep, EditStep, FinishStep, MarkStep, RemoveStep, ReorderSteps, RetitlePlan]))
    if kind is AddStep:
        added = draw(st.sampled_from(["s3", "s20", f"{origin or 's30'}.1"]))
        after = draw(st.none() | step_ids)
        return AddStep(step=added, text=draw(texts), depends_on=draw(several), after=after, origin=origin)
    if kind is EditStep:
        return EditStep(step=draw(step_ids), wait_for=draw(several), release=draw(several), origin=origin)
    if kind is FinishStep:
        status = draw(st.sampled_from(["completed", "blocked", "not_started"]))
        return FinishStep(step=draw(step_ids), status=status, result="done", origin=origin)
    if kind is MarkStep:
        return MarkStep(step=draw(step_ids), note=draw(texts), origin=origin)
    if kind is RemoveStep:
        return RemoveStep(step=draw(step_ids), origin=origin)
    if kind is ReorderSteps:
        return ReorderSteps(steps=draw(several), origin=origin)
    return RetitlePlan(title=draw(texts), origin=origin)
