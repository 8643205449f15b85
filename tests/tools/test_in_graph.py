"""What a graph relies on: sessions live on the thread, not in the tools."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from clew.tools.catalog import build_tools
from clew.tools.resources import Scope, resources


class State(TypedDict):
    seen: str


@pytest.fixture
async def graph(tmp_path):
    """Sets a variable, asks a person, looks at the variable; each call through tools that are built anew."""

    def tool(name):
        return build_tools([name], workspace=tmp_path)[0]

    async def act(state: State) -> State:
        await tool("bash").ainvoke({"command": "X=5"})
        return state

    async def ask(state: State) -> State:
        return {"seen": await tool("ask_human").ainvoke({"inquire": "Go on?"})}

    async def look(state: State) -> State:
        return {"seen": await tool("bash").ainvoke({"command": f"echo $X {state['seen']}"})}

    builder = StateGraph(State)
    builder.add_sequence([act, ask, look])
    builder.add_edge(START, "act")
    builder.add_edge("look", END)
    yield builder.compile(checkpointer=InMemorySaver())
    await resources().close_all()


async def test_a_shell_survives_an_interrupt_and_its_resume(graph):
    config = {"configurable": {"thread_id": "t"}}
    assert "__interrupt__" in await graph.ainvoke({"seen": ""}, config)
    assert (await graph.ainvoke(Command(resume="yes"), config))["seen"] == "5 yes\n[exit code 0]"
    assert sorted(resources().kinds(Scope("t"))) == ["sandbox", "shell"]


async def test_a_closed_scope_begins_anew_on_the_same_thread(graph):
    await graph.ainvoke({"seen": ""}, {"configurable": {"thread_id": "t"}})
    await resources().close(Scope("t"))
    assert resources().kinds(Scope("t")) == []
    resumed = await graph.ainvoke(Command(resume="yes"), {"configurable": {"thread_id": "t"}})
    assert resumed["seen"] == "yes\n[exit code 0]"
