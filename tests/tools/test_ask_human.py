import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from clew.tools.ask_human import AskHuman


class State(TypedDict):
    answer: str


async def act(state: State) -> State:
    return {"answer": await AskHuman().ainvoke({"inquire": "Which colour?"})}


def graph(**options):
    builder = StateGraph(State)
    builder.add_node(act)
    builder.add_edge(START, "act")
    builder.add_edge("act", END)
    return builder.compile(**options)


@pytest.mark.parametrize(
    ("answer", "text"), [("blue", "blue"), ({"answer": "blue"}, "blue"), ("", ""), (["a", 1], '["a", 1]')]
)
async def test_the_run_waits_and_the_answer_is_the_result(answer, text):
    asking, config = graph(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "t"}}
    paused = await asking.ainvoke({"answer": ""}, config)
    [interrupt] = paused["__interrupt__"]
    assert interrupt.value == {
        "kind": "input",
        "question": "Which colour?",
        "options": [],
        "data": {},
        "path": [],
    }
    assert (await asking.ainvoke(Command(resume=answer), config))["answer"] == text


async def test_the_question_says_which_agent_asks():
    config = {"configurable": {"thread_id": "t", "agent_path": ["manus", "painter"]}}
    paused = await graph(checkpointer=InMemorySaver()).ainvoke({"answer": ""}, config)
    assert paused["__interrupt__"][0].value["path"] == ["manus", "painter"]
