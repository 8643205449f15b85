from langchain_core.callbacks import AsyncCallbackHandler

from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings


class Runs(AsyncCallbackHandler):
    """Hears of every run that a graph opens."""

    def __init__(self):
        self.names, self.parents = [], {}

    async def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        self.names.append(kwargs.get("name"))
        self.parents[run_id] = parent_run_id


def agent(tmp_path):
    model = ScriptedModel(replies=["Four."])
    spec = AgentSpec(name="answerer", system_prompt="You answer.", tools=())
    return create_agent(spec, model=model, settings=Settings(home=tmp_path))


TASK = {"messages": [("user", "2 + 2?")]}


async def test_a_listener_hears_of_every_node_below_the_run_of_the_graph(tmp_path):
    runs = Runs()
    await agent(tmp_path).ainvoke(TASK, {"callbacks": [runs]})
    assert runs.names == ["answerer", "__start__", "think", "terminate"]
    whole = next(iter(runs.parents))
    assert list(runs.parents.values()) == [None, whole, whole, whole]


async def test_events_name_the_nodes(tmp_path):
    events = [event async for event in agent(tmp_path).astream_events(TASK, version="v2")]
    assert {"think", "terminate"} <= {event["name"] for event in events if event["event"] == "on_chain_start"}


async def test_with_nobody_listening_the_run_is_the_same(tmp_path):
    heard = await agent(tmp_path).ainvoke(TASK, {"callbacks": [Runs()]})
    unheard = await agent(tmp_path).ainvoke(TASK)
    assert unheard["messages"][-1].content == heard["messages"][-1].content == "Four."
    assert unheard["outcome"] == heard["outcome"]
