from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from clew.models.profile import model_name
from clew.models.recorded import RecordingModel, ReplayModel
from clew.models.scripted import ScriptedModel
from clew.state.errors import ScriptError, UsageError

STEPS = 6


@tool
def bash(command: str) -> str:
    """Run a command."""
    return command


def steps() -> ScriptedModel:
    replies: list[Any] = [
        {"content": f"step {n}", "tool_calls": [{"name": "bash", "args": {"command": f"ls {n}"}}]} for n in range(STEPS)
    ]
    return ScriptedModel(replies=[*replies, "the end"])


async def run(
    model: BaseChatModel, *, task: str = "count", workspace: str = "/a", result: str = "ok", prompt: str = "next?"
) -> list[str]:
    """A small agent loop: what the model said, step by step."""
    bound = model.bind_tools([bash])
    history: list[BaseMessage] = [SystemMessage(f"Work in {workspace}."), HumanMessage(task)]
    while True:
        reply = await bound.ainvoke([*history, HumanMessage(prompt)])
        history.append(reply)
        if not reply.tool_calls:
            return [message.text for message in history if isinstance(message, AIMessage)]
        history += [ToolMessage(result, tool_call_id=call["id"]) for call in reply.tool_calls]


@pytest.fixture
async def recording(tmp_path: Path) -> Path:
    await run(RecordingModel(model=steps(), path=tmp_path / "run.jsonl"))
    return tmp_path / "run.jsonl"


async def test_a_replay_says_what_was_recorded(recording: Path) -> None:
    said = await run(ReplayModel.from_file(recording))
    assert said == await run(steps())
    assert len(said) == STEPS + 1


async def test_a_replay_bears_other_tool_results_workspaces_and_prompts(recording: Path) -> None:
    said = await run(ReplayModel.from_file(recording), workspace="/b", result="other", prompt="and now?")
    assert said[-1] == "the end"


async def test_another_task_is_not_in_the_recording_and_the_error_says_where_they_part(recording: Path) -> None:
    with pytest.raises(ScriptError, match=r"message 2 is human 'sing', recorded was human 'count'"):
        await run(ReplayModel.from_file(recording), task="sing")


async def test_other_tools_are_not_in_the_recording_and_the_error_names_them(recording: Path) -> None:
    model = ReplayModel.from_file(recording)
    with pytest.raises(ScriptError, match=r"the tools are \[\], recorded were \['bash'\]"):
        await model.ainvoke([SystemMessage("Work in /a."), HumanMessage("count"), HumanMessage("next?")])


async def test_a_replay_goes_on_in_another_process(recording: Path) -> None:
    request = [SystemMessage("Work in /a."), HumanMessage("count")]
    first = await ReplayModel.from_file(recording).bind_tools([bash]).ainvoke([*request, HumanMessage("next?")])
    result = ToolMessage("ok", tool_call_id=first.tool_calls[0]["id"])
    later = [*request, first, result, HumanMessage("next?")]
    assert (await ReplayModel.from_file(recording).bind_tools([bash]).ainvoke(later)).text == "step 1"


async def test_equal_requests_with_different_replies_are_replayed_in_order(tmp_path: Path) -> None:
    said = iter(["heads", "tails"])
    model = RecordingModel(model=ScriptedModel(reply=lambda *_: next(said)), path=tmp_path / "run.jsonl")
    for _ in range(2):
        await model.ainvoke("toss")
    replay = ReplayModel.from_file(tmp_path / "run.jsonl")
    assert [(await replay.ainvoke("toss")).text for _ in range(3)] == ["heads", "tails", "tails"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_every_way_to_call_is_recorded_and_replayed_alike(tmp_path: Path, way: str) -> None:
    path = tmp_path / "run.jsonl"
    recorded = await call(RecordingModel(model=steps(), path=path), way)
    assert path.read_text(encoding="utf-8").count("\n") == 1
    for each in ("invoke", "ainvoke", "stream", "astream"):
        replayed = await call(ReplayModel.from_file(path), each)
        assert replayed.text == recorded.text == "step 0"
        assert replayed.tool_calls == recorded.tool_calls
        assert replayed.usage_metadata == recorded.usage_metadata


async def call(model: BaseChatModel, way: str) -> AIMessage:
    if way == "invoke":
        return await asyncio.to_thread(model.invoke, "go")
    if way == "ainvoke":
        return await model.ainvoke("go")
    if way == "stream":
        chunks = await asyncio.to_thread(lambda: list(model.stream("go")))
    else:
        chunks = [chunk async for chunk in model.astream("go")]
    assert len(chunks) > 3
    return sum(chunks[1:], chunks[0])


async def test_tokens_are_reported_once_while_recording(tmp_path: Path) -> None:
    class Tokens(AsyncCallbackHandler):
        starts = 0
        text = ""

        async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            self.starts += 1

        async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
            self.text += token

    tokens = Tokens()
    model = RecordingModel(model=ScriptedModel(replies=["one two three"]), path=tmp_path / "run.jsonl")
    async for _ in model.astream("go", {"callbacks": [tokens]}):
        pass
    assert (tokens.starts, tokens.text) == (1, "one two three")


async def test_a_recording_grows_with_what_is_new_and_not_with_the_history(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    await run(RecordingModel(model=steps(), path=path), result="x" * 10_000)
    assert path.read_text(encoding="utf-8").count("x" * 10_000) == STEPS
    assert path.stat().st_size < 1.5 * 10_000 * STEPS


async def test_parallel_calls_leave_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    model = RecordingModel(model=ScriptedModel(reply=lambda messages, _: messages[-1].text), path=path)
    shared = SystemMessage("shared")
    await asyncio.gather(*(model.ainvoke([shared, HumanMessage(f"task {n}")]) for n in range(20)))
    replay = ReplayModel.from_file(path)
    assert [(await replay.ainvoke([shared, HumanMessage(f"task {n}")])).text for n in range(20)] == [
        f"task {n}" for n in range(20)
    ]


async def test_a_failed_call_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    model = RecordingModel(model=ScriptedModel(replies=[{"error": {"status": 500}}, "fine"]), path=path)
    with pytest.raises(Exception, match="scripted error"):
        await model.ainvoke("go")
    await model.ainvoke("go")
    assert len(ReplayModel.from_file(path).records) == 1


async def test_a_recording_passes_on_the_name_and_the_profile_of_its_model(tmp_path: Path, recording: Path) -> None:
    inner = ScriptedModel(replies=["x"], model_name="gpt-5", profile={"image_inputs": False})
    model = RecordingModel(model=inner, path=tmp_path / "run.jsonl")
    assert model_name(model) == "gpt-5"
    assert model.profile == {"image_inputs": False}
    assert model_name(ReplayModel.from_file(recording)) == "scripted"


@pytest.mark.parametrize("text", ["{", "[]", '{"request": {}}', json.dumps({"request": {}, "parts": {}, "reply": {}})])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="is malformed in line 1"):
        ReplayModel.from_file(tmp_path / "run.jsonl")


async def test_a_file_that_cannot_be_read_or_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        ReplayModel.from_file(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="cannot be written"):
        await RecordingModel(model=steps(), path=tmp_path / "no" / "run.jsonl").ainvoke("go")
