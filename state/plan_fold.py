"""Folding operations into a plan."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from .plan import STARTED, Plan, PlanStep
from .plan_draft import fresh_id
from .plan_operation import (
    AddStep,
    ClosePlan,
    EditStep,
    FinishStep,
    MarkStep,
    OpenPlan,
    PlanOperation,
    RemoveStep,
    ReorderSteps,
    RetitlePlan,
    StartStep,
    StepOperation,
    TrackTools,
    read_operations,
)


def apply_operations(plan: Plan, operations: Iterable[StepOperation]) -> Plan:
    """Fold a batch of operations into a plan.

    The operations of one origin count in the order in which they come; how those of different origins are mixed makes
    no difference, because they are folded origin by origin, in plan order, the owner's first, and `FinishStep` last.

    Every batch leaves a valid plan: an operation on a step that is gone does nothing, a dependency that is gone or
    would close a circle is left out, a step that is in progress or completed is not removed, nor is the last one, and
    a step is added under another id where its own is taken. Adding the same step twice does nothing.
    """
    rank = {step.id: place for place, step in enumerate(plan.steps)}

    def turn(operation: StepOperation) -> tuple[bool, int, str]:
        place = rank.get(operation.origin, len(rank)) if operation.origin else -1
        return isinstance(operation, FinishStep), place, operation.origin

    fold = _Fold(plan)
    for operation in sorted(operations, key=turn):
        fold.apply(operation)
    return fold.plan()


def fold_plan(plan: Plan | None, operations: Iterable[PlanOperation]) -> Plan | None:
    """`apply_operations` for a thread that may have no plan, and may change from one plan to another.

    Operations between two changes of plan are one batch; those that come while there is no plan do nothing.
    """
    for inside, batch in groupby(operations, key=lambda operation: not isinstance(operation, OpenPlan | ClosePlan)):
        if not inside:
            for operation in batch:
                plan = _switch(plan, operation)
        elif plan is not None:
            plan = apply_operations(plan, [item for item in batch if not isinstance(item, OpenPlan | ClosePlan)])
    return plan


def merge_plan(current: Plan | None, write: Plan | Iterable[Any] | None) -> Plan | None:
    """Reducer of a plan channel: a plan replaces, None clears, and a list of operations, also as JSON, is folded in.

    LangGraph stores the first write of a channel as it is, so begin with a plan or None.
    """
    if write is None or isinstance(write, Plan):
        return write
    return fold_plan(current, read_operations(write))


def _switch(plan: Plan | None, operation: PlanOperation) -> Plan | None:
    if isinstance(operation, OpenPlan):
        return operation.plan
    closes = isinstance(operation, ClosePlan) and plan is not None and plan.id == operation.plan_id
    return None if closes else plan


class _Fold:
    """A plan while it is being changed."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._title = plan.title
        self._steps = {step.id: step for step in plan.steps}
        self._order = [step.id for step in plan.steps]
        self._retired = list(plan.retired)
        self._renamed: dict[tuple[str, str], str] = {}

    def plan(self) -> Plan:
        places = {step_id: place for place, step_id in enumerate(self._order)}
        steps = []
        for step in (self._steps[step_id] for step_id in self._order):
            depends_on = sorted(step.depends_on, key=places.__getitem__)
            steps.append(step.model_copy(update={"depends_on": depends_on}))
        return Plan(id=self._plan.id, title=self._title, steps=steps, retired=self._retired)

    def apply(self, operation: StepOperation) -> None:
        match operation:
            case RetitlePlan():
                self._title = operation.title
            case ReorderSteps():
                self._reorder([self._name(operation, step_id) for step_id in operation.steps])
            case AddStep():
                self._add(operation)
            case MarkStep() | StartStep() | TrackTools() | FinishStep() | EditStep() | RemoveStep():
                if step := self._steps.get(self._name(operation, operation.step)):
                    self._change(step, operation)

    def _change(
        self, step: PlanStep, operation: MarkStep | StartStep | TrackTools | FinishStep | EditStep | RemoveStep
    ) -> None:
        match operation:
            case RemoveStep():
                self._remove(step)
            case EditStep():
                self._edit(step, operation)
            case MarkStep():
                self._steps[step.id] = _marked(step, operation)
            case StartStep():
                self._steps[step.id] = _begun(step, operation)
            case TrackTools():
                executions = [*step.executions, *operation.executions]
                self._steps[step.id] = step.model_copy(update={"executions": executions})
            case FinishStep():
                self._steps[step.id] = _finished(step, operation)

    def _name(self, operation: StepOperation, step_id: str) -> str:
        return self._renamed.get((operation.origin, step_id), step_id)

    def _add(self, operation: AddStep) -> None:
        step_id = self._name(operation, operation.step)
        present = self._steps.get(step_id)
        if present is not None and present.text == operation.text:
            return
        place, wanted = self._place_behind(operation), [self._name(operation, other) for other in operation.depends_on]
        if present is not None or step_id in self._retired:
            step_id = fresh_id([*self._order, *self._retired], operation.origin)
            self._renamed[operation.origin, operation.step] = step_id
        depends_on = [dependency for dependency in dict.fromkeys(wanted) if dependency in self._steps]
        self._steps[step_id] = PlanStep(id=step_id, text=operation.text, agent=operation.agent, depends_on=depends_on)
        self._order.insert(place, step_id)

    def _place_behind(self, operation: AddStep) -> int:
        if operation.after is None:
            return 0
        anchor = self._name(operation, operation.after)
        return self._order.index(anchor) + 1 if anchor in self._steps else len(self._order)

    def _edit(self, step: PlanStep, operation: EditStep) -> None:
        release = {self._name(operation, dependency) for dependency in operation.release}
        depends_on = [dependency for dependency in step.depends_on if dependency not in release]
        for dependency in (self._name(operation, wanted) for wanted in operation.wait_for):
            if dependency in self._steps and dependency not in depends_on and not self._waits(dependency, step.id):
                depends_on.append(dependency)
        text, agent = operation.text or step.text, operation.agent or step.agent
        self._steps[step.id] = step.model_copy(update={"text": text, "agent": agent, "depends_on": depends_on})

    def _waits(self, step_id: str, target: str) -> bool:
        """Whether the one step is the other, or waits for it, directly or not."""
        seen, todo = {step_id}, [step_id]
        while todo:
            if (found := todo.pop()) == target:
                return True
            following = set(self._steps[found].depends_on) - seen
            seen |= following
            todo.extend(following)
        return False

    def _remove(self, step: PlanStep) -> None:
        if step.status in STARTED or len(self._steps) == 1:
            return
        del self._steps[step.id]
        self._order.remove(step.id)
        self._retired.append(step.id)
        for waiting in [other for other in self._steps.values() if step.id in other.depends_on]:
            inherited = [*(item for item in waiting.depends_on if item != step.id), *step.depends_on]
            self._steps[waiting.id] = waiting.model_copy(update={"depends_on": list(dict.fromkeys(inherited))})

    def _reorder(self, wanted: list[str]) -> None:
        named = [step_id for step_id in dict.fromkeys(wanted) if step_id in self._steps]
        following = iter(named)
        self._order = [next(following) if step_id in named else step_id for step_id in self._order]


def _marked(step: PlanStep, operation: MarkStep) -> PlanStep:
    changes: dict[str, Any] = {"notes": _with_line(step.notes, operation.note)}
    if operation.status is not None and operation.status != step.status:
        changes["status"] = operation.status
        changes |= {"started": operation.at, "ended": None} if operation.status == "in_progress" else {}
        changes |= {"ended": operation.at} if operation.status in ("completed", "blocked") else {}
    return step.model_copy(update=changes)


def _begun(step: PlanStep, operation: StartStep) -> PlanStep:
    agent = operation.agent or step.agent
    changes = {"status": "in_progress", "attempts": step.attempts + 1, "started": operation.at, "ended": None}
    return step.model_copy(update=changes | {"agent": agent})


def _finished(step: PlanStep, operation: FinishStep) -> PlanStep:
    changes = {
        "status": operation.status,
        "result": operation.result or step.result,
        "notes": _with_line(step.notes, operation.note),
        "executions": [*step.executions, *operation.executions],
        "ended": operation.at,
    }
    return step.model_copy(update=changes)


def _with_line(notes: str, line: str) -> str:
    line = line.strip()
    if not line or f"\n{line}\n" in f"\n{notes}\n":
        return notes
    return f"{notes}\n{line}" if notes else line
