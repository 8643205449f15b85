"""Tasks of the protocol, sent with the SDK's own client."""

from __future__ import annotations

import pytest
from a2a.types import CancelTaskRequest, GetTaskRequest, ListTasksRequest, Part
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError, UnsupportedOperationError
from a2a_peer import message, said, send, send_for_task, state
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from clew.apps.a2a.threads import GraphThreads

BINDINGS = [TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON]


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("legacy", [False, True])
async def test_a_task_is_done_over_every_binding_of_both_versions(served, binding, legacy):
    async with served.client(binding=binding, legacy=legacy, streaming=False) as client:
        task = await send_for_task(client, message("hello"))
        assert (state(task), said(task)) == ("completed", "First answer.")
        assert [part.text for artifact in task.artifacts for part in artifact.parts] == ["First answer."]
        again = await client.get_task(GetTaskRequest(id=task.id))
        assert state(again) == "completed"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_stream_tells_each_step(served, binding):
    async with served.client(binding=binding) as client:
        events = await send(client, message("work"))
    assert events[0].HasField("task")
    remarks = [part.text for event in events for part in event.status_update.status.message.parts]
    assert remarks == ["I use bash.", "It is made.", "It is made."]
    assert [part.text for event in events for part in event.artifact_update.artifact.parts] == ["It is made."]


async def test_a_question_is_asked_as_input_required_and_answered_by_text(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
        assert (state(task), said(task)) == ("input_required", "Which colour?")
        # The context is the task's own: a caller need not repeat it.
        answered = await send_for_task(client, message("blue", task=task.id))
        assert (answered.id, answered.context_id) == (task.id, task.context_id)
        assert (state(answered), said(answered)) == ("completed", "You said so.")
    (record,) = await served.session.registry.list()
    assert "blue" in str((await served.session.values(record))["messages"])


async def test_several_questions_are_answered_by_their_ids(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask twice"))
        (asked,) = [part.data for part in task.status.message.parts if part.HasField("data")]
        questions = {item["question"]: item["id"] for item in MessageToDict(asked)["questions"]}
        with pytest.raises(InvalidParamsError, match="several questions are open"):
            await send_for_task(client, message("one text", task=task.id))
        answers = {questions["First?"]: "1", questions["Second?"]: "2"}
        part = Part(data=ParseDict({"answers": answers}, Value()))
        answered = await send_for_task(client, message("", task=task.id, parts=[part]))
    assert (state(answered), said(answered)) == ("completed", "Both are known.")


async def test_an_unknown_question_is_refused_and_the_task_still_waits(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
        part = Part(data=ParseDict({"answers": {"other": "x"}}, Value()))
        with pytest.raises(InvalidParamsError, match="nothing is asked under other"):
            await send_for_task(client, message("", task=task.id, parts=[part]))
        assert state(await send_for_task(client, message("blue", task=task.id))) == "completed"


async def test_a_context_is_a_conversation_on_one_thread(served):
    async with served.client(streaming=False) as client:
        first = await send_for_task(client, message("hello"))
        second = await send_for_task(client, message("and now?", context=first.context_id))
        other = await send_for_task(client, message("hello"))
    assert second.id != first.id
    assert [said(task) for task in (first, second, other)] == ["First answer.", "Second answer.", "First answer."]
    assert len(await served.session.registry.list()) == 2


async def test_a_second_task_in_a_context_that_waits_is_refused_by_the_name_of_the_first(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
        with pytest.raises(
            UnsupportedOperationError, match=f"task {task.id} of context .* is TASK_STATE_INPUT_REQUIRED"
        ):
            await send_for_task(client, message("hello", context=task.context_id))
        assert state(await client.get_task(GetTaskRequest(id=task.id))) == "input_required"


async def test_a_run_that_gives_up_is_a_failed_task_with_its_answer(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("give up"))
    assert (state(task), said(task)) == ("failed", "It cannot be done.")


async def test_what_an_error_says_stays_in_the_log(served, caplog):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("fail"))
    assert (state(task), said(task)) == ("failed", f"the run failed; the server's log says why, under task {task.id}")
    assert "the secret of the provider" in caplog.text


async def test_pictures_and_files_reach_the_model(served):
    picture = Part(raw=b"\x89PNG picture", media_type="image/png", filename="a.png")
    text = Part(raw=b"a,b\n1,2\n", media_type="text/csv", filename="table.csv")
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("", parts=[Part(text="look"), picture, text]))
        assert state(task) == "completed"
    (record,) = await served.session.registry.list()
    task_message = (await served.session.values(record))["messages"][0]
    assert "look\ntable.csv:\na,b\n1,2\n" in task_message.text
    assert [block["type"] for block in task_message.content] == ["text", "image"]


@pytest.mark.parametrize(
    "parts", [[Part(text=" ")], [Part(raw=b"\xff\xfe\x00", media_type="application/zip", filename="a.zip")]]
)
async def test_a_message_that_no_model_can_read_is_refused(served, parts):
    async with served.client(streaming=False) as client:
        with pytest.raises((InvalidParamsError, ContentTypeNotSupportedError)):
            await send_for_task(client, message("", parts=parts))
    assert await served.session.registry.list() == []


async def test_tasks_are_listed_by_their_context(served):
    async with served.client(streaming=False) as client:
        tasks = [await send_for_task(client, message("hello")) for _ in range(2)]
        listed = await client.list_tasks(ListTasksRequest(context_id=tasks[0].context_id))
    assert [task.id for task in listed.tasks] == [tasks[0].id]


async def test_any_graph_can_be_served(serve):
    def answer(state: MessagesState) -> dict[str, list[AIMessage]]:
        colour = interrupt("Which colour?")
        return {"messages": [AIMessage(f"It is {colour}.")]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer")
    threads = GraphThreads(graph.compile(checkpointer=InMemorySaver()))
    async with serve(threads=threads) as served, served.client(streaming=False) as client:
        task = await send_for_task(client, message("paint"))
        assert (state(task), said(task)) == ("input_required", "Which colour?")
        answered = await send_for_task(client, message("blue", task=task.id))
        assert (state(answered), said(answered)) == ("completed", "It is blue.")
        waiting = await send_for_task(client, message("paint", context=task.context_id))
        assert state(await client.cancel_task(CancelTaskRequest(id=waiting.id))) == "canceled"
        again = await send_for_task(client, message("paint", context=task.context_id))
        assert state(again) == "input_required"
