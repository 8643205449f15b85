"""Pictures of tool results are stored once, beside the checkpoints."""

from base64 import b64encode

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from strict_openai import StrictOpenAI

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.profile import with_profile
from clew.models.scripted import ScriptedModel
from clew.state.settings import ModelSettings, Settings

PICTURE = b"\x89PNG not really, but as good as one " * 1000
TASK = {"messages": [("user", "look")]}


@tool
def look(n: int) -> list:
    """Look."""
    return [
        {"type": "text", "text": "a picture"},
        {"type": "image", "base64": b64encode(PICTURE).decode(), "mime_type": "image/png"},
    ]


@pytest.fixture
def run():
    async def run(saver, vision=True):
        requests = []

        def reply(messages, tools):
            requests.append(messages)
            looking = {"tool_calls": [{"name": "look", "args": {"n": len(requests)}}]}
            return looking if len(requests) < 3 else "Seen."

        graph = create_agent(
            AgentSpec(name="tester", tools=["look"]),
            model=with_profile(ScriptedModel(reply=reply), ModelSettings(vision=vision)),
            tools=[look],
            checkpointer=saver,
            settings=Settings(),
        )
        state = await graph.ainvoke(TASK, {"configurable": {"thread_id": "t"}}, durability="sync")
        return state, requests[-1]

    return run


async def test_a_picture_is_sent_with_its_data_and_stored_by_reference(run, tmp_path):
    async with open_saver(tmp_path / "x.db") as saver:
        state, sent = await run(saver)
        (reference,) = await saver.blobs.references("t")
    stored = state["messages"][2].content[1]
    assert stored == {"type": "image", "mime_type": "image/png", "blob": reference}
    assert [message.type for message in sent[:4]] == ["human", "ai", "tool", "human"]
    assert sent[3].content[1]["base64"] == b64encode(PICTURE).decode()
    assert sum(file.stat().st_size for file in tmp_path.glob("x.db*")) < 2 * len(PICTURE) + 500_000


async def test_a_model_that_does_not_see_gets_a_marker(run, tmp_path):
    async with open_saver(tmp_path / "x.db") as saver:
        _, sent = await run(saver, vision=False)
    assert "does not see images" in sent[2].content[1]["text"]


async def test_with_another_saver_the_picture_stays_in_the_message(run):
    state, sent = await run(InMemorySaver())
    assert state["messages"][2].content[1]["base64"] == sent[3].content[1]["base64"]


async def test_the_data_are_in_no_checkpoint(run, tmp_path):
    async with open_saver(tmp_path / "x.db") as saver:
        await run(saver)
    assert PICTURE[:64] not in (tmp_path / "x.db").read_bytes()
    assert b64encode(PICTURE)[:64] not in (tmp_path / "x.db").read_bytes()


async def test_a_server_that_takes_images_from_the_user_alone_takes_the_request(tmp_path):
    def reply(request, number):
        return {"tool_calls": [{"name": "look", "args": {"n": 1}}]} if number == 0 else "Seen."

    with StrictOpenAI(reply) as server:
        settings = Settings(llm={"base_url": server.base_url, "api_key": "none"})
        graph = create_agent(
            AgentSpec(name="tester", tools=["look"]), model="openai:strict", tools=[look], settings=settings
        )
        state = await graph.ainvoke(TASK)
    assert server.refusals == []
    assert state["outcome"].answer == "Seen."
    (image,) = [block for block in server.requests[-1]["messages"][-1]["content"] if block["type"] == "image_url"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
