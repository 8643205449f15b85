"""A saver rebuilds the delta channels of graphs that it knows, and of no other graph that has some of their names."""

from typing import Annotated, Any

import pytest
from langgraph._internal._typing import MISSING
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from typing_extensions import NotRequired, TypedDict

from clew.checkpoints.channels import STATES, DeltaChannels
from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, agent_from_step, create_agent, create_hub, create_plan_flow
from clew.state.agent import AgentState
from clew.state.errors import ThreadUnreadable


def counted(state: list[Any], writes: list[Any]) -> list[Any]:
    """Each item with its place: a reducer that no other one agrees with."""
    items = [item for write in writes for item in write]
    return [*state, *([item, len(state) + place] for place, item in enumerate(items))]


def state_of(**fields: Any) -> type:
    return TypedDict("Foreign", fields, total=False)


OWN = Annotated[list, DeltaChannel(counted, snapshot_frequency=1000)]

FOREIGN = {
    "reports": state_of(reports=OWN),
    "turns": state_of(turns=OWN, notes=list),
    "messages": state_of(messages=OWN, status=str),
    "messages, and a name of ours beside": state_of(
        messages=OWN, condensed=Annotated[list, DeltaChannel(counted)], x=int
    ),
    "all of the plan's": state_of(messages=OWN, plan=OWN, reports=OWN, notes=list),
}


def build(saver: Any, state: type) -> Any:
    name = next(iter(state.__annotations__))
    others = {"notes": ["n"], "x": 1} if "messages" in state.__annotations__ else {}

    async def note(values: Any) -> Any:
        return {name: ["a"], **{key: value for key, value in others.items() if key in state.__annotations__}}

    builder = StateGraph(state)
    for number in "12345":
        builder.add_node(number, note)
    for one, two in zip([START, *"12345"], [*"12345", END], strict=True):
        builder.add_edge(one, two)
    return builder.compile(checkpointer=saver), name


CONFIG: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("initdb"))])
async def saver(request, tmp_path):
    """A saver that was told of no states."""
    url = tmp_path / "clew.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    async with open_saver(url) as opened:
        yield opened


@pytest.mark.parametrize("state", FOREIGN.values(), ids=FOREIGN)
async def test_a_graph_that_has_names_of_ours_and_its_own_reducers_is_not_pruned_by_ours(saver, state):
    graph, name = build(saver, state)
    await graph.ainvoke({name: ["begun"]}, CONFIG, durability="sync")
    before = (await graph.aget_state(CONFIG)).values
    assert before[name] == [["begun", 0], *(["a", place] for place in range(1, 6))]
    with pytest.raises(ThreadUnreadable, match=r"history of thread t cannot be cut.* open_saver"):
        await saver.aprune(["t"])
    assert (await graph.aget_state(CONFIG)).values == before
    assert len([found async for found in saver.alist(CONFIG)]) == 7


@pytest.mark.parametrize("state", FOREIGN.values(), ids=FOREIGN)
async def test_a_graph_whose_state_was_given_is_pruned_by_its_own_reducers(tmp_path, state):
    async with open_saver(tmp_path / "clew.db", states=[*STATES, state]) as saver:
        graph, name = build(saver, state)
        await graph.ainvoke({name: ["begun"]}, CONFIG, durability="sync")
        before = (await graph.aget_state(CONFIG)).values
        await saver.aprune(["t"])
        assert (await graph.aget_state(CONFIG)).values == before
        assert len([found async for found in saver.alist(CONFIG)]) == 1


async def test_of_two_states_that_cannot_be_told_apart_neither_is_taken(tmp_path):
    other = state_of(reports=Annotated[list, DeltaChannel(lambda state, writes: [*state, *writes])])
    async with open_saver(tmp_path / "clew.db", states=[FOREIGN["reports"], other]) as saver:
        graph, name = build(saver, FOREIGN["reports"])
        await graph.ainvoke({name: ["begun"]}, CONFIG, durability="sync")
        with pytest.raises(ThreadUnreadable):
            await saver.aprune(["t"])


async def test_a_state_of_ours_that_a_graph_has_extended_is_known_when_it_is_given(tmp_path):
    class Mine(AgentState):
        notes: NotRequired[list[str]]

    written = ["messages", "progress", "notes"]
    assert DeltaChannels(*STATES).of(["messages", "condensed"], written) is None
    known = DeltaChannels(*STATES, Mine).of(["messages", "condensed"], written)
    assert known is not None
    assert known.keys() == {"messages", "condensed"}


GRAPHS = {
    "agent": lambda: create_agent("read_only"),
    "agent with a plan": lambda: create_agent("planning"),
    "agent from a function": lambda: agent_from_step(lambda state: None, tools=[]),
    "agent elsewhere": lambda: create_agent(AgentSpec(name="there", remote="http://localhost:1")),
    "plan": lambda: create_plan_flow({"read_only": "read_only"}),
    "hub": create_hub,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_growing_channel_of_our_graphs_is_known_and_what_it_is_before_its_first_write(
    name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    grown = {key: channel for key, channel in GRAPHS[name]().channels.items() if isinstance(channel, DeltaChannel)}
    known = DeltaChannels(*STATES).of(grown, grown)
    assert known is not None
    assert {key: channel.reducer for key, channel in known.items()} == {
        key: channel.reducer for key, channel in grown.items()
    }
    empty = {key: channel.from_checkpoint(MISSING).value for key, channel in known.items()}
    assert empty == {key: {"messages": [], "reports": [], "turns": []}.get(key) for key in known}


def test_no_two_states_of_ours_have_delta_channels_of_the_same_names():
    assert len({frozenset(DeltaChannels(state).names) for state in STATES}) == len(STATES)
