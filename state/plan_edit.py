"""What an `update` changes: steps as they were rewritten against steps as they stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from heapq import nsmallest
from typing import Any, NamedTuple

from .errors import PlanError
from .plan import STARTED, Plan, PlanStep
from .plan_draft import StepDraft, name_steps, read_steps
from .plan_fold import apply_operations
from .plan_operation import AddStep, EditStep, RemoveStep, ReorderSteps, RetitlePlan, StepOperation

SIMILAR = 0.6
"""Share of equal text from which two texts may be the same step: `difflib`'s own measure of a close match."""

CANDIDATES = 8
"""Steps that one text is compared with in full: those that share most words with it, then the nearest. It keeps an
update of hundreds of steps, which runs on the event loop, short."""


class _Candidate(NamedTuple):
    at: int
    """Place of the step in the plan."""

    step: PlanStep
    """The step."""

    words: frozenset[str]
    """The words of its text."""


def update_plan(
    plan: Plan, title: str | None = None, items: Sequence[Any] | None = None, agents: Collection[str] | None = None
) -> Plan:
    """The plan after an `update`; see `update_operations`."""
    return apply_operations(plan, update_operations(plan, title, items, agents))


def update_operations(
    plan: Plan,
    title: str | None = None,
    items: Sequence[Any] | None = None,
    agents: Collection[str] | None = None,
    *,
    origin: str = "",
) -> list[StepOperation]:
    """What must change so that the plan has that title and those steps.

    `items` is the whole list as it is to be, read by `read_steps`: it also says what each step waits for. A step that
    it matches (see `match_steps`) keeps its id, status, notes, result and attempts. A step that it leaves out is
    removed; one that is in progress or completed is kept, behind the step that it stood behind.

    Args:
        plan: the plan as the writer saw it.
        title: the title that it is to have; None leaves it.
        items: the steps that it is to have; None leaves them.
        agents: as in `read_steps`.
        origin: id of the step whose agent asks for it; empty for the owner of the plan.

    Raises:
        PlanError: nothing is asked for, or the steps are malformed, or one has an id that was given to another.
    """
    if not title and items is None:
        raise PlanError("An update needs a title, or steps, or both.")
    operations: list[StepOperation] = []
    if title and title != plan.title:
        operations.append(RetitlePlan(title=title, origin=origin))
    if items is not None:
        drafts = read_steps(items, agents)
        matches = match_steps(plan.steps, drafts)
        _refuse_retired(plan, drafts)
        ids = name_steps(drafts, matches, [*(step.id for step in plan.steps), *plan.retired], origin)
        operations.extend(_step_operations(plan, drafts, ids, origin))
    return operations


def match_steps(steps: Sequence[PlanStep], drafts: Sequence[StepDraft]) -> dict[int, str]:
    """Which draft, by its place, stands for which step, by its id. Each stands for at most one.

    A draft with an id is that step or none. The others are matched by equal text (but for case and spaces), in order;
    what is left by likeness, the likest first. Texts are alike if `difflib` gives them a ratio of at least `SIMILAR`
    and they have the same numbers and single capital letters ("2023" is not "2024", "module A" not "module B").
    A step that is in progress or completed is only matched with a text in which no word gave way to an unlike one:
    "write the docs" must not pass for done because "write the code" is.
    """
    known = {step.id for step in steps}
    matches = {place: draft.id for place, draft in enumerate(drafts) if draft.id is not None and draft.id in known}
    for compare in (_equal_pairs, _similar_pairs):
        taken = set(matches.values())
        open_steps = [step for step in steps if step.id not in taken]
        open_drafts = {
            place: draft.text for place, draft in enumerate(drafts) if draft.id is None and place not in matches
        }
        for place, step_id in compare(open_steps, open_drafts):
            if place not in matches and step_id not in taken:
                matches[place] = step_id
                taken.add(step_id)
    return matches


def _refuse_retired(plan: Plan, drafts: Sequence[StepDraft]) -> None:
    for draft in drafts:
        if draft.id in plan.retired:
            raise PlanError(f"The id {draft.id!r} belonged to a step that was removed: leave the id out.")


def _step_operations(
    plan: Plan, drafts: Sequence[StepDraft], ids: Sequence[str], origin: str
) -> Iterator[StepOperation]:
    before = {step.id: step for step in plan.steps}
    listed = set(ids)
    kept = {step.id for step in plan.steps if step.id not in listed and step.status in STARTED}
    order = _order(plan, ids, kept)
    anchors = dict(zip(order, [None, *order], strict=False))
    for draft, step_id in zip(drafts, ids, strict=True):
        depends_on = [ids[index] for index in draft.depends_on]
        if step_id not in before:
            yield AddStep(
                step=step_id,
                text=draft.text,
                agent=draft.agent,
                depends_on=depends_on,
                after=anchors[step_id],
                origin=origin,
            )
        elif edit := _edit(before[step_id], draft, depends_on, origin):
            yield edit
    for step in plan.steps:
        if step.id not in listed and step.id not in kept:
            yield RemoveStep(step=step.id, origin=origin)
    if [step_id for step_id in order if step_id in before] != [step.id for step in plan.steps if step.id in order]:
        yield ReorderSteps(steps=order, origin=origin)


def _edit(step: PlanStep, draft: StepDraft, depends_on: list[str], origin: str) -> EditStep | None:
    edit = EditStep(
        step=step.id,
        text=draft.text if draft.text != step.text else None,
        agent=draft.agent if draft.agent != step.agent else None,
        wait_for=[dependency for dependency in depends_on if dependency not in step.depends_on],
        release=[dependency for dependency in step.depends_on if dependency not in depends_on],
        origin=origin,
    )
    return edit if edit != EditStep(step=step.id, origin=origin) else None


def _order(plan: Plan, ids: Sequence[str], kept: Collection[str]) -> list[str]:
    order = list(ids)
    behind: str | None = None
    for step in plan.steps:
        if step.id in kept:
            order.insert(order.index(behind) + 1 if behind else 0, step.id)
        if step.id in order:
            behind = step.id
    return order


def _equal_pairs(steps: Sequence[PlanStep], drafts: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    by_text: dict[str, list[str]] = {}
    for step in steps:
        by_text.setdefault(_plain(step.text), []).append(step.id)
    for place, text in drafts.items():
        if waiting := by_text.get(_plain(text)):
            yield place, waiting.pop(0)


def _similar_pairs(steps: Sequence[PlanStep], drafts: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    by_labels: dict[tuple[str, ...], list[_Candidate]] = {}
    for at, step in enumerate(steps):
        candidate = _Candidate(at, step, frozenset(_plain(step.text).split()))
        by_labels.setdefault(_labels(step.text), []).append(candidate)
    pairs = []
    for place, text in drafts.items():
        matcher = SequenceMatcher(None, "", _plain(text), autojunk=False)
        for candidate in _nearest(place, text, by_labels.get(_labels(text), [])):
            if share := _similarity(matcher, candidate.step, text):
                pairs.append((-share, place, candidate.at, candidate.step.id))
    for _, place, _, step_id in sorted(pairs):
        yield place, step_id


def _nearest(place: int, text: str, candidates: list[_Candidate]) -> list[_Candidate]:
    if len(candidates) <= CANDIDATES:
        return candidates
    words = set(_plain(text).split())
    return nsmallest(CANDIDATES, candidates, key=lambda found: (-len(words & found.words), abs(found.at - place)))


def _similarity(matcher: SequenceMatcher[str], step: PlanStep, text: str) -> float:
    before = _plain(step.text)
    matcher.set_seq1(before)
    if matcher.real_quick_ratio() < SIMILAR or matcher.quick_ratio() < SIMILAR or matcher.ratio() < SIMILAR:
        return 0.0
    if step.status in STARTED and _a_word_gave_way(before.split(), _plain(text).split()):
        return 0.0
    return matcher.ratio()


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _labels(text: str) -> tuple[str, ...]:
    # A capital that begins a sentence is an article or a pronoun, not a label.
    return tuple(sorted(re.findall(r"\b\w*\d\w*\b|(?<=[^.\s]\s)\b[A-Z]\b", text)))


def _a_word_gave_way(before: list[str], after: list[str]) -> bool:
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return any(
        SequenceMatcher(None, " ".join(before[a:b]), " ".join(after[c:d]), autojunk=False).ratio() < SIMILAR
        for tag, a, b, c, d in changes
        if tag == "replace"
    )
