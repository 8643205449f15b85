"""A person decides about the tool calls of the agents that carry out a plan."""

from __future__ import annotations

import re

import pytest
from langchain_core.tools import tool
from langgraph.types import Command

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, create_agent, create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools
from clew.tools.traits import Traits

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "buy everything")]}


def call(tool_name, **args):
    return {"tool_calls": [{"name": tool_name, "args": args}]}


class Shop:
    """A planner that plans these steps, and an agent that pays for the step it is given."""

    def __init__(self, *steps):
        self.steps, self.paid = steps, []

        @tool
        def pay(what: str) -> str:
            """Pay."""
            self.paid.append(what)
            return f"paid {what}"

        pay.metadata = Traits(risk="high").metadata()
        self.tools = [pay, *build_tools(["terminate"])]

    def reply(self, messages, tools):
        text = "\n".join(message.text for message in messages if message.type in ("system", "human"))
        if "Make a plan for the task" in text:
            return call("planning", command="create", title="Buy", steps=list(self.steps))
        if "All steps of the plan are done" in text:
            return "Bought."
        step = re.findall(r"^Current step: (.*)$", text, re.MULTILINE)[-1]
        if messages[-1].type != "tool":
            return call("pay", what=step)
        failed = "not run" in messages[-1].text
        return call("terminate", status="failure" if failed else "success", answer=messages[-1].text)

    def flow(self, saver, home, confirm="risky", **options):
        model, settings = ScriptedModel(reply=self.reply), Settings(home=home)
        spec = AgentSpec(name="buyer", description="Pays.", tools=["pay", "terminate"], max_steps=9)
        buyer = create_agent(spec, model=model, tools=self.tools, settings=settings, confirm=confirm)
        return create_plan_flow(
            {"buyer": buyer}, model=model, checkpointer=saver, settings=settings, retries=0, revise="never", **options
        )


def free(*texts):
    return [{"text": text, "depends_on": []} for text in texts]


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "threads.db") as saver:
        yield saver


async def run(flow, input=TASK, **context):
    return await flow.ainvoke(input, THREAD, durability="sync", context=RunContext(**context))


def asked(state):
    return {pending.value["data"]["calls"][0]["args"]["what"]: pending for pending in state.get("__interrupt__", [])}


async def test_steps_side_by_side_ask_by_themselves_and_are_answered_in_any_order_in_other_processes(tmp_path):
    shop = Shop(*free("bread", "milk"), {"text": "cake", "depends_on": [0, 1]})
    database = tmp_path / "threads.db"
    async with open_saver(database) as saver:
        questions = asked(await run(shop.flow(saver, tmp_path)))
    assert sorted(questions) == ["bread", "milk"]
    assert questions["milk"].value["path"] == ["s2", "buyer"]
    async with open_saver(database) as saver:
        state = await run(shop.flow(saver, tmp_path), Command(resume={questions["milk"].id: {"edit": {"what": "oat"}}}))
    assert sorted(asked(state)) == ["bread"]
    async with open_saver(database) as saver:
        state = await run(shop.flow(saver, tmp_path), Command(resume={questions["bread"].id: "approve"}))
    assert shop.paid == ["oat", "bread"]
    assert sorted(asked(state)) == ["cake"]
    async with open_saver(database) as saver:
        state = await run(shop.flow(saver, tmp_path), Command(resume=True))
    assert shop.paid == ["oat", "bread", "cake"]
    assert state["status"] == "finished"


async def test_a_kind_that_is_approved_in_one_step_is_approved_in_the_next(saver, tmp_path):
    shop = Shop("bread", "milk", "cake")
    flow = shop.flow(saver, tmp_path)
    assert sorted(asked(await run(flow))) == ["bread"]
    state = await run(flow, Command(resume="approve_kind"))
    assert shop.paid == ["bread", "milk", "cake"]
    assert state["status"] == "finished"


async def test_a_rejection_in_a_step_is_seen_by_its_agent(saver, tmp_path):
    shop = Shop("bread")
    flow = shop.flow(saver, tmp_path)
    await run(flow)
    state = await run(flow, Command(resume={"reject": "we have some"}))
    assert shop.paid == []
    assert "we have some" in state["plan"].steps[0].notes


async def test_a_headless_plan_rejects_the_calls_that_a_person_would_have_to_approve(saver, tmp_path):
    shop = Shop("bread")
    state = await run(shop.flow(saver, tmp_path), headless=True)
    assert shop.paid == []
    assert "nobody is there" in state["plan"].steps[0].notes


async def test_nobody_is_asked_about_the_limit_of_a_step_though_its_calls_are(saver, tmp_path):
    shop = Shop("bread")
    flow = shop.flow(saver, tmp_path)
    assert sorted(asked(await run(flow, max_steps=1))) == ["bread"]
    state = await run(flow, Command(resume="approve"), max_steps=1)
    assert shop.paid == ["bread"]
    assert not [pending for pending in state.get("__interrupt__", []) if pending.value["path"]]


async def test_the_policy_of_the_run_and_of_the_flow_reach_the_agents(saver, tmp_path):
    shop = Shop("bread")
    assert sorted(asked(await run(shop.flow(saver, tmp_path, confirm=None), confirm="always"))) == ["bread"]


async def test_a_flow_gives_its_policy_to_the_agents_that_it_makes(saver, tmp_path):
    def reply(messages, tools):
        if "Make a plan for the task" in "\n".join(message.text for message in messages):
            return call("planning", command="create", title="Look", steps=["look"])
        return call("str_replace_editor", command="view", path=".")

    flow = create_plan_flow(
        {"manus": "manus"},
        model=ScriptedModel(reply=reply),
        checkpointer=saver,
        settings=Settings(home=tmp_path),
        confirm="always",
    )
    (question,) = (await run(flow))["__interrupt__"]
    assert question.value["path"] == ["s1", "manus"]
