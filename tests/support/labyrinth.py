"""A graph with what is hard for a saver: a delta channel, parallel tasks, removal, an interrupt, a subgraph."""

from typing import Annotated, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite, interrupt
from typing_extensions import TypedDict

from clew.checkpoints.channels import STATES
from clew.state.messages import merge_messages


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], DeltaChannel(merge_messages, snapshot_frequency=1000)]
    turn: int


KNOWN = (*STATES, State)
"""What `open_saver` must be told of states to prune threads of the graph here."""


def say(text: str) -> AIMessage:
    return AIMessage(text, id=str(uuid4()))


async def append(state: State) -> Any:
    return {"messages": [say(f"turn {state['turn']}")], "turn": state["turn"] + 1}


async def left(state: State) -> Any:
    return {"messages": [say("left")]}


async def right(state: State) -> Any:
    return {"messages": [say("right")]}


async def remove(state: State) -> Any:
    return {"messages": [RemoveMessage(id=state["messages"][0].id or "")], "turn": state["turn"] + 1}


async def ask(state: State) -> Any:
    return {"messages": [say(f"answer {interrupt('which way?')}")], "turn": state["turn"] + 1}


async def overwrite(state: State) -> Any:
    return {"messages": Overwrite([*state["messages"][-3:], say("a new thread")]), "turn": state["turn"] + 1}


def child() -> Any:
    builder = StateGraph(State)
    builder.add_node("inside", append)
    builder.add_node("ask", ask)
    builder.add_edge(START, "inside")
    builder.add_edge("inside", "ask")
    builder.add_edge("ask", END)
    return builder.compile()


async def route(state: State) -> Any:
    after = {1: "remove", 2: "append", 3: "child", 5: "overwrite", 6: "append"}
    return after.get(state["turn"], END)


def build(saver: Any) -> Any:
    """append, then left and right at once, remove, append, a child that asks, overwrite, append."""
    builder = StateGraph(State)
    builder.add_node("append", append)
    builder.add_node("left", left)
    builder.add_node("right", right)
    builder.add_node("remove", remove)
    builder.add_node("child", child())
    builder.add_node("overwrite", overwrite)
    builder.add_node("join", join)
    builder.add_edge(START, "append")
    builder.add_edge("append", "left")
    builder.add_edge("append", "right")
    builder.add_edge("left", "join")
    builder.add_edge("right", "join")
    builder.add_conditional_edges("join", route)
    builder.add_conditional_edges("remove", route)
    builder.add_conditional_edges("child", route)
    builder.add_conditional_edges("overwrite", route)
    return builder.compile(checkpointer=saver)


async def join(state: State) -> Any:
    return {}


def task(text: str = "find the way out") -> State:
    return {"messages": [HumanMessage(text, id=str(uuid4()))], "turn": 0}


def texts(state: Any) -> list[str]:
    return [message.text for message in state["messages"]]
