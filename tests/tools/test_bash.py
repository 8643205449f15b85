import asyncio

import pytest

from clew.state.errors import ToolFailure
from clew.tools.resources import Scope, resources

TOOL = "bash"

pytestmark = pytest.mark.usefixtures("backend")


async def test_folder_variables_and_functions_live_on(call):
    await call(command="mkdir sub; cd sub; X=5; f() { echo f$X; }")
    answer = await call(command="f; pwd")
    assert answer.content == f"f5\n{call.workspace / 'sub'}\n[exit code 0]"


async def test_the_exit_code_is_reported(call):
    answer = await call(command="(exit 3)")
    assert answer.content == "[exit code 3]"
    assert answer.artifact["exit_code"] == 3


async def test_error_output_stands_where_it_was_written(call):
    answer = await call(command="echo 1; echo 2 >&2; echo 3")
    assert answer.content.startswith("1\n2\n3\n")


async def test_each_thread_and_each_child_agent_has_a_session_of_its_own(call):
    await call(command="X=5")
    assert (await call(command="echo $X", thread="u")).content == "[exit code 0]"
    assert (await call(command="echo $X", namespace="child:1|act:1")).content == "[exit code 0]"
    assert (await call(command="echo $X", namespace="act:2")).content == "5\n[exit code 0]"


async def test_a_restart_forgets_everything(call):
    await call(command="X=5; cd /")
    await call(restart=True)
    assert (await call(command="echo ${X-gone}; pwd")).content == f"gone\n{call.workspace}\n[exit code 0]"


@pytest.mark.parametrize(
    "command",
    [
        "echo 'unclosed",
        'echo "unclosed',
        "echo $(unclosed",
        "if true; then",
        ")",
        "}",
        "${",
        "f() {",
        "a |",
        "x=(",
        "for",
    ],
)
async def test_a_syntax_error_is_an_error_and_nothing_more(call, command):
    await call(command="X=5")
    broken = await call(command=command)
    assert broken.artifact["exit_code"] != 0
    assert not broken.artifact["timed_out"]
    assert (await call(command="echo $X")).content == "5\n[exit code 0]"


async def test_here_documents_work_also_unfinished_ones(call):
    assert (await call(command="cat <<END\na  $((1+1))\nEND")).content == "a  2\n[exit code 0]"
    assert "b" in (await call(command="cat <<END\nb")).content
    assert (await call(command="echo on")).content == "on\n[exit code 0]"


async def test_a_program_that_reads_its_input_finds_it_empty(call):
    assert (await call(command="cat; read x; echo $?")).content == "1\n[exit code 0]"


async def test_bytes_that_are_no_text_are_shown_as_escapes(call):
    assert (await call(command=r"printf 'a\0b\xff\n'")).content == "a\\x00b\\xff\n[exit code 0]"


@pytest.mark.parametrize(("command", "reason"), [("echo a\0b", "NUL"), ("echo \ud800", "Unicode"), (" ", "empty")])
async def test_what_no_shell_takes_is_refused_with_a_sentence(call, command, reason):
    with pytest.raises(ToolFailure, match=reason):
        await call(command=command)


async def test_long_output_is_capped_and_saved_whole(call):
    answer = await call(command="seq 1 1000000")
    whole = "".join(f"{number}\n" for number in range(1, 1_000_001))
    assert len(answer.content) < 25_000
    assert answer.content.startswith("1\n2\n3\n")
    assert answer.content.endswith("999999\n1000000\n[exit code 0]")
    assert answer.artifact["output_file"] in answer.content
    assert (call.workspace / answer.artifact["output_file"]).read_text() == whole


async def test_history_expansion_and_marks_in_the_output_do_no_harm(call):
    answer = await call(command="echo 'a!!b!$'; printf '\\036x:1:2\\036'")
    assert answer.content == "a!!b!$\n\x1ex:1:2\x1e\n[exit code 0]"


async def test_tracing_does_not_show_how_the_end_of_a_command_is_marked(call):
    await call(command="set -x")
    assert "printf" not in (await call(command="echo hi")).content


@pytest.mark.parametrize(
    "command",
    [
        "sleep 100",
        "while :; do :; done",
        "for i in 1 2 3; do sleep 100; done",
        "sleep 100 | cat",
        "(trap '' INT; exec sleep 100)",
    ],
)
async def test_a_command_that_runs_out_of_time_is_interrupted_and_the_session_lives_on(call, command):
    await call(command="X=5; sleep 1000 &")
    answer = await call(command=command, timeout=0.2)
    assert answer.artifact["timed_out"]
    assert "interrupted" in answer.content
    assert (await call(command="echo $X; jobs -r | wc -l")).content == "5\n1\n[exit code 0]"


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("exec sh -c 'exit 4'", 4), ("kill -9 $$", 137)])
async def test_when_the_shell_ends_the_next_command_gets_a_fresh_one(call, command, code):
    await call(command="X=5")
    answer = await call(command=command)
    assert answer.artifact["exit_code"] == code
    assert "fresh" in answer.content
    assert (await call(command="echo ${X-gone}")).content == "gone\n[exit code 0]"


async def test_output_that_goes_elsewhere_for_good_does_not_lose_the_session(call):
    assert (await call(command="exec >file; echo hidden")).content == "[exit code 0]"
    assert (await call(command="exec >&2; cat file")).content == "hidden\n[exit code 0]"


async def test_background_jobs_never_wait_for_us(call):
    await call(command="(seq 1 200000; touch done) >&2 &")
    answer = await call(command="wait; ls done")
    assert "done" in answer.content


async def test_keys_and_tokens_of_ours_are_not_in_its_environment(call, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in (await call(command="env")).content


async def test_a_cancelled_call_stops_the_work(call, running):
    doing = asyncio.create_task(call(command="echo 1 >started; sleep 1000.25"))
    await call.number_in("started")
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert running("sleep 1000.25") == []
    assert (await call(command="echo on")).content == "on\n[exit code 0]"


async def test_closing_the_scope_kills_daemons_too(call, running):
    await call(command="(setsid sleep 1000.5 >/dev/null &)")
    async with asyncio.timeout(20):
        while not running("sleep 1000.5"):  # noqa: ASYNC110 - it is not our child
            await asyncio.sleep(0.01)
    await resources().close(Scope("t"))
    assert running("sleep 1000.5") == []


ASKING = "read -p 'name? ' name; echo hello $name"


async def until(call, text, **arguments):
    """Call, then wait for more, until the output holds `text`: a busy machine may fall silent in between."""
    answer = await call(**arguments)
    while text not in answer.content:
        assert answer.artifact["running"], answer.content
        answer = await call()
    return answer


async def test_an_interactive_command_waits_for_its_input(call):
    asked = await until(call, "name? ", command=ASKING, interactive=True)
    assert asked.content.startswith("name? \n[it still runs")
    assert asked.artifact["running"]
    told = await until(call, "[exit code", input="Ariadne")
    assert told.content.endswith("hello Ariadne\n[exit code 0]")
    assert (await call(command="echo $name")).content == "Ariadne\n[exit code 0]"


async def test_a_program_with_a_prompt_is_talked_to_line_by_line(call):
    await until(call, ">>> ", command="python3 -q -c 'import code; code.interact(banner=str())'", interactive=True)
    await until(call, "42", input="6 * 7")
    ended = await until(call, "[exit code", keys="C-d")
    assert ended.artifact["exit_code"] == 0
    assert not ended.artifact["running"]


async def test_interactive_commands_have_a_terminal_and_others_have_none(call):
    script = "test -t 0 && test -t 1 && stty size"
    assert (await until(call, "[exit", command=script, interactive=True)).content == "40 120\n[exit code 0]"
    assert (await call(command=script)).artifact["exit_code"] == 1


async def test_an_interactive_command_is_interrupted_by_its_key(call):
    await call(command="X=5; sleep 1000", interactive=True, timeout=0.2)
    stopped = await until(call, "[exit code", keys="C-c")
    assert stopped.artifact["exit_code"] == 130
    assert (await call(command="echo $X")).content == "5\n[exit code 0]"


async def test_without_command_a_call_waits_for_more_output(call):
    slow = "echo one; until [ -e go ]; do sleep 0.01; done; echo two"
    assert (await until(call, "one", command=slow, interactive=True)).artifact["running"]
    (call.workspace / "go").touch()
    assert (await until(call, "[exit code 0]")).content == "two\n[exit code 0]"


async def test_while_a_command_runs_another_is_refused_and_a_restart_is_not(call):
    await call(command="sleep 1000", interactive=True, timeout=0.2)
    with pytest.raises(ToolFailure, match="still runs"):
        await call(command="echo hi")
    await call(restart=True)
    assert (await call(command="echo hi")).content == "hi\n[exit code 0]"


@pytest.mark.parametrize("arguments", [{"command": "cat", "input": "x"}, {"command": "cat", "keys": "C-d"}])
async def test_input_without_a_command_that_runs_is_refused(call, arguments):
    with pytest.raises(ToolFailure, match="start it first"):
        await call(**arguments)


async def test_more_input_than_a_program_reads_is_refused(call):
    await call(command="sleep 1000", interactive=True, timeout=0.2)
    with pytest.raises(ToolFailure, match="does not read its input"):
        await call(input="line\n" * 20_000)
