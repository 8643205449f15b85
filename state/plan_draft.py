"""Steps as a model or a person writes them, before they are steps of a plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from .errors import PlanError
from .plan import Plan, PlanStep

STEP_ID = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$"
"""What a step id that is given must look like."""

_TAG = re.compile(r"\s*\[([A-Za-z][\w -]*)\]\s*(?=\S)")
_CHECKED_BOX = "x"


class StepArgument(BaseModel):
    """One step of the `steps` argument, written as an object."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    id: str | None = Field(
        None,
        pattern=STEP_ID,
        description="Id of the step, as `get` shows it; leave it out for a step that is not in the plan yet.",
    )
    text: str = Field(description="What is to be done, specific enough to be done without asking.")
    agent: str | None = Field(None, description="Name of the agent that is to do it.")
    depends_on: list[Annotated[StrictInt, Field(ge=0)]] | None = Field(
        None,
        description="Places in this list, from 0, of earlier steps that must be completed first; "
        "[] for a step that can run at any time; leave it out to wait for the step before.",
    )


class StepDraft(BaseModel):
    """One step as it was written, with every default worked out."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str | None = None
    """The id that was given; None for a step that the writer did not name."""

    text: str
    """What is to be done, without the tag that names an agent."""

    agent: str | None = None
    """Name of the agent; None where none was named."""

    depends_on: list[int] = Field(default_factory=list)
    """Places in the list of drafts, from 0, sorted; each is before the draft's own."""


def read_steps(items: Sequence[Any], agents: Collection[str] | None = None) -> list[StepDraft]:
    """Work out what a list of steps means.

    A string is a step that waits for the one before it; a leading `[AGENT]` tag names its agent, in any case, with
    spaces and hyphens read as underscores. An object is a `StepArgument`: without `depends_on` it waits for the
    step before it, with `[]` for none. Strings and objects may be mixed, and each keeps its rule: a string after an
    independent object waits for that object alone.

    Args:
        items: strings, mappings and `StepArgument`s.
        agents: names of the agents that there are. A tag that names none of them is left in the text, and an object
            that names none is refused. None takes every tag and name as that of an agent.

    Raises:
        PlanError: the list is empty, or an item is blank, malformed, or depends on a step that is not before it.
    """
    if not items:
        raise PlanError("`steps` is empty: give at least one step.")
    drafts = [_read_step(place, item, agents) for place, item in enumerate(items)]
    given = [draft.id for draft in drafts if draft.id]
    if doubled := [step_id for step_id in given if given.count(step_id) > 1]:
        raise PlanError(f"Two steps have the id {doubled[0]!r}: give each step an id of its own, or none.")
    return drafts


def create_plan(plan_id: str, title: str, items: Sequence[Any], agents: Collection[str] | None = None) -> Plan:
    """Make a plan; its steps are named `s1`, `s2`, … where no id is given. See `read_steps` for `items` and `agents`.

    Raises:
        PlanError: the title is blank, or `read_steps` refuses the steps.
    """
    drafts = read_steps(items, agents)
    ids = name_steps(drafts, {})
    steps = [
        PlanStep(
            id=ids[place], text=draft.text, agent=draft.agent, depends_on=[ids[index] for index in draft.depends_on]
        )
        for place, draft in enumerate(drafts)
    ]
    return Plan(id=plan_id, title=title, steps=steps)


def name_steps(
    drafts: Sequence[StepDraft], known: Mapping[int, str], taken: Iterable[str] = (), origin: str = ""
) -> list[str]:
    """Ids for drafts: the known one, else the given one, else a fresh one.

    Args:
        drafts: the steps as written.
        known: ids of those drafts that stand for steps of the plan, by place.
        taken: ids that the plan has or had.
        origin: id of the step whose agent wrote them, so that agents that run at once never choose the same.
    """
    used = {*taken, *(draft.id for draft in drafts if draft.id)}
    ids = []
    for place, draft in enumerate(drafts):
        step_id = known.get(place) or draft.id or fresh_id(used, origin)
        used.add(step_id)
        ids.append(step_id)
    return ids


def fresh_id(used: Collection[str], origin: str = "") -> str:
    """The next of `s1`, `s2`, …, or of `s3.1`, `s3.2`, … for what the agent of step `s3` adds."""
    prefix = f"{origin}." if origin else "s"
    numbers = (step_id.removeprefix(prefix) for step_id in used if step_id.startswith(prefix))
    return f"{prefix}{1 + max((int(number) for number in numbers if number.isdecimal()), default=0)}"


def _read_step(place: int, item: Any, agents: Collection[str] | None) -> StepDraft:
    if isinstance(item, str):
        agent, text = _split_tag(item, agents)
        draft = StepDraft(text=text.strip(), agent=agent, depends_on=_step_before(place))
    else:
        argument = _read_argument(place, item)
        depends_on = _step_before(place) if argument.depends_on is None else sorted(set(argument.depends_on))
        agent = _known_agent(place, argument.agent, agents)
        draft = StepDraft(id=argument.id, text=argument.text.strip(), agent=agent, depends_on=depends_on)
    if not draft.text:
        raise PlanError(f"Step {place} has no text: say what is to be done.")
    if late := [index for index in draft.depends_on if index >= place]:
        raise PlanError(
            f"Step {place} depends on step {late[0]}, which is not before it: "
            "`depends_on` takes places in the list, from 0, of earlier steps."
        )
    return draft


def _step_before(place: int) -> list[int]:
    return [place - 1] if place else []


def _read_argument(place: int, item: Any) -> StepArgument:
    try:
        return StepArgument.model_validate(item)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise PlanError(
            f"Step {place} is malformed, {where}: {problem['msg']}; "
            'give a string, or {"text", "id"?, "agent"?, "depends_on"?}.'
        ) from error


def _split_tag(text: str, agents: Collection[str] | None) -> tuple[str | None, str]:
    match = _TAG.match(text)
    if match is None or (agents is None and match[1].lower() == _CHECKED_BOX):
        return None, text
    agent = _agent_called(match[1], agents)
    return (None, text) if agent is None else (agent, text[match.end() :])


def _known_agent(place: int, name: str | None, agents: Collection[str] | None) -> str | None:
    if not name or not name.strip():
        return None
    agent = _agent_called(name.strip().strip("[]"), agents)
    if agent is None:
        raise PlanError(f"Step {place} names the agent {name!r}; the agents are {', '.join(agents or ())}.")
    return agent


def _agent_called(name: str, agents: Collection[str] | None) -> str | None:
    wanted = _plain(name)
    if agents is None:
        return wanted
    return next((agent for agent in agents if _plain(agent) == wanted), None)


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip()).lower()
