"""A plan's processes are killed with SIGKILL at any moment; what was done stays done."""

import re
from pathlib import Path

import pytest
from crash_story import check_same_end, print_figures, stories
from langchain_core.messages import SystemMessage

from clew.graphs import AgentSpec
from clew.graphs.plan import create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.nodes.execute_step import PLAN_LENGTH
from clew.nodes.schedule import RESULTS_LENGTH
from clew.state.settings import Settings

SCRIPT = Path(__file__).with_name("crash_plan.py")
KILLS = 8
SEEDS = [range(4), pytest.param(range(100, 200), marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="long")]
TEXTS = {f"s{place + 1}": text for place, text in enumerate("abcdef")}
"""Text of each step by its id."""

MOST_IN_FLIGHT = 6
"""Calls that may be in flight at once: two in each of three steps."""


@pytest.mark.parametrize("seeds", SEEDS)
def test_plans_that_are_killed_again_and_again_end_like_an_undisturbed_one(tmp_path, seeds):
    told = stories(SCRIPT, tmp_path, KILLS, seeds)
    undisturbed = told.pop("undisturbed")
    assert [step[1] for step in undisturbed.end["steps"]] == ["completed"] * 6
    assert len(undisturbed.effects) == len({name for _, name in undisturbed.effects}) == 18
    for each in told.values():
        assert len(each.lives) > 1
        check_same_end(each, undisturbed, MOST_IN_FLIGHT)
        assert effects_of_steps_done(each) == []
    print_figures("plans", told.values())


def effects_of_steps_done(told):
    """Effects of steps that were reported when the process began."""
    done = {life["life"]: {TEXTS[step] for step in life["reported"]} for life in told.lives}
    return [(life, name) for life, name in told.effects if name.partition("-")[0] in done[life]]


class Sizes:
    """Plays the planner and the agents of a long plan, and measures the prompts of its steps."""

    def __init__(self, steps, result):
        self.steps, self.result, self.lengths = steps, result, []

    def reply(self, messages, tools):
        text = "\n".join(message.text for message in messages if message.type in ("system", "human"))
        if isinstance(messages[0], SystemMessage) and "Make a plan for the task" in text:
            args = {"command": "create", "title": "Long", "steps": self.steps}
            return {"tool_calls": [{"name": "planning", "args": args}]}
        if re.search(r"^Current step: ", text, re.MULTILINE):
            self.lengths.append(len(text))
            return self.result
        return "All done."

    async def run(self, home):
        worker = AgentSpec(name="worker", description="Does anything.")
        options = {"parallel": 4, "settings": Settings(home=home)}
        flow = create_plan_flow({"worker": worker}, model=ScriptedModel(reply=self.reply), **options)
        return await flow.ainvoke({"messages": [("user", "a long task")]})


async def test_the_prompts_of_fifty_steps_do_not_grow_beyond_the_budget(tmp_path):
    steps = [
        {"text": f"step {n}: " + "carefully " * 20, "depends_on": list(range(max(0, n - 9), n))} for n in range(50)
    ]
    sizes = Sizes(steps, "a long result " * 1_000)
    state = await sizes.run(tmp_path)
    assert state["status"] == "finished"
    assert len(sizes.lengths) == 50
    assert max(sizes.lengths) <= PLAN_LENGTH + RESULTS_LENGTH + 4_000
    assert max(sizes.lengths[25:]) <= 1.05 * max(sizes.lengths[10:25])


async def test_a_plan_of_two_hundred_steps_ends(tmp_path):
    sizes = Sizes([{"text": f"step {n}", "depends_on": [n - 4] if n >= 4 else []} for n in range(200)], "done")
    state = await sizes.run(tmp_path)
    assert (state["status"], state["plan"].count("completed")) == ("finished", 200)
