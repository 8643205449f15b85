"""Long outputs in a run: kept with its thread, and found again where the run goes on."""

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.nodes.outputs import named_outputs
from clew.state.context import RunContext
from clew.state.settings import Settings
from clew.state.tools import ToolSettings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources
from clew.tools.sandbox.limits import SandboxOptions

THREAD = {"configurable": {"thread_id": "t"}}
SECRET = "hf_" + "aBcD" * 9
WHOLE = "".join(f"{number} {SECRET if number == 5000 else ''}\n" for number in range(10_000))


@tool
def talk() -> str:
    """Talk."""
    return WHOLE


def use(name, **arguments):
    return {"tool_calls": [{"name": name, "args": arguments}]}


@pytest.fixture
async def run(tmp_path):
    """Run a task with some replies in a workspace; gives what its tools answered."""

    async def run(saver, *replies, workspace="here"):
        said = iter([*replies, "Done."])
        graph = create_agent(
            AgentSpec(name="tester", tools=["talk", "bash"], max_observe=2000),
            model=ScriptedModel(reply=lambda messages, tools: next(said)),
            tools=[talk, *build_tools(["bash"], settings=ToolSettings(sandbox=SandboxOptions(backend="local")))],
            checkpointer=saver,
            settings=Settings(home=tmp_path),
        )
        context = RunContext(workspace=str(tmp_path / workspace), confirm="never", headless=True)
        state = await graph.ainvoke({"messages": [("user", "go on")]}, THREAD, context=context, durability="sync")
        return [message for message in state["messages"] if isinstance(message, ToolMessage)]

    yield run
    await resources().close_all()


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        yield saver


async def test_what_the_model_sees_cut_is_a_payload_and_a_copy_without_secrets(run, saver, tmp_path):
    [answer] = await run(saver, use("talk"))
    kept = answer.additional_kwargs["output"]
    assert kept["file"] in answer.text
    assert list(await saver.blobs.references("t")) == [kept["blob"]]
    assert (await saver.blobs.get(kept["blob"])).decode() == WHOLE.replace(SECRET, "[redacted]")
    assert (tmp_path / "here" / kept["file"]).read_text() == WHOLE.replace(SECRET, "[redacted]")
    assert not [file for file in tmp_path.glob("clew.db*") if SECRET.encode() in file.read_bytes()]


async def test_what_a_tool_has_kept_is_not_kept_twice(run, saver, tmp_path):
    [answer] = await run(saver, use("bash", command="seq 10000"))
    artifact = answer.artifact
    assert len(answer.text) < 2300
    assert artifact["output_file"] in answer.text
    assert list(await saver.blobs.references("t")) == [artifact["output_blob"]]
    assert (await saver.blobs.get(artifact["output_blob"])).decode() == "".join(f"{n}\n" for n in range(1, 10_001))
    assert [file.name for file in (tmp_path / "here/.clew/outputs").iterdir()] == [artifact["output_file"][-25:]]


async def test_a_short_output_is_kept_nowhere(run, saver, tmp_path):
    [answer] = await run(saver, use("bash", command="seq 100"))
    assert (answer.artifact["output_file"], answer.artifact["output_blob"]) == (None, None)
    assert await saver.blobs.references("t") == {}
    assert not (tmp_path / "here/.clew/outputs").exists()


async def test_a_run_that_goes_on_elsewhere_finds_the_outputs_that_it_was_told_of(run, saver, tmp_path):
    [answer] = await run(saver, use("talk"))
    file = answer.additional_kwargs["output"]["file"]
    named = use("bash", command=f"grep -n ^4999 {file}")
    answers = await run(saver, use("bash", command="ls -A"), named, workspace="there")
    assert [answer.text for answer in answers[1:]] == ["[exit code 0]", "5000:4999 \n[exit code 0]"]


async def test_a_search_of_the_whole_folder_finds_them_too(run, saver, tmp_path):
    await run(saver, use("talk"), use("bash", command="seq 10000"))
    answers = await run(saver, use("bash", command="grep -rc 77 .clew/outputs | cut -d: -f2 | sort"), workspace="there")
    assert answers[-1].text == "280\n280\n[exit code 0]"


async def test_with_another_saver_the_copy_is_all_there_is(run, tmp_path):
    [answer] = await run(InMemorySaver(), use("talk"))
    kept = answer.additional_kwargs["output"]
    assert kept["blob"] is None
    assert (tmp_path / "here" / kept["file"]).read_text() == WHOLE


def test_only_calls_that_name_the_folder_look_for_outputs():
    told = ToolMessage("…the whole is in .clew/outputs/bash-0123456789abcdef.log …]", tool_call_id="1")
    deep = {"paths": [{"path": ".clew/outputs/talk-fedcba9876543210.log"}], "number": 3}
    call = {"name": "read", "args": deep, "id": "2", "type": "tool_call"}
    assert named_outputs(call, [told]) == [
        ".clew/outputs/talk-fedcba9876543210.log",
        ".clew/outputs/bash-0123456789abcdef.log",
    ]
    assert named_outputs({**call, "args": {"command": "ls"}}, [told]) == []
