"""A run of ours that a person stops: what an agent elsewhere does for it is cancelled there too."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from inspect import isawaitable

import psutil
import pytest
from a2a.types import GetTaskRequest, ListTasksRequest
from a2a_peer import client_of, listening, message, send_for_task, state, url_of

from clew.apps.a2a.card import agent_card
from clew.apps.a2a.server import open_app
from clew.apps.a2a.threads import AgentThreads
from clew.apps.control import ask_thread
from clew.apps.drive import Stop
from clew.apps.remote_tasks import remote_tasks
from clew.apps.session import open_session
from clew.apps.task import task_input
from clew.apps.view import thread_config
from clew.graphs import AGENTS, AgentSpec, continue_remote
from clew.graphs.specs import agent_spec
from clew.state.remote import AT_WORK
from clew.state.settings import Settings
from clew.state.thread import ThreadRecord
from clew.tools.a2a import withdraw as withdrawing
from clew.tools.a2a.withdraw import withdraw

COMMAND = [sys.executable, "-m", "clew.apps.cli.main"]


def sleeping():
    return [each for each in psutil.Process().children(recursive=True) if each.name() == "sleep"]


async def until(condition):
    async with asyncio.timeout(60):
        while not (await found if isawaitable(found := condition()) else found):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def states(url):
    async with client_of(url, streaming=False) as client:
        return [state(task) for task in (await client.list_tasks(ListTasksRequest())).tasks]


@pytest.fixture
async def clew(tmp_path):
    """Run commands of clew in processes of their own, in a folder of their own."""
    folder = tmp_path / "ours"
    folder.mkdir()
    started = []

    async def begin(*argv):
        pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, "cwd": folder}
        started.append(await asyncio.create_subprocess_exec(*COMMAND, *argv, **pipes))
        return started[-1]

    async def call(*argv):
        process = await begin(*argv)
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    call.begin = begin
    yield call
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def last(out):
    return json.loads(out.splitlines()[-1])


async def test_ctrl_c_cancels_the_task_there_and_a_resume_gives_it_anew(served, clew):
    run = await clew.begin("run", "wait for ever", "--agent", f"a2a:{served.url}", "--thread", "t1", "--json")
    await until(sleeping)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGTERM)  # a second one cancels the step; two of a kind at once could become one
    out, err = await run.communicate()
    assert (run.returncode, last(out)["status"], last(out)["reason"]) == (130, "waiting", "paused")
    assert "could not be cancelled" not in (out + err).decode()
    assert await states(served.url) == ["canceled"]
    await until(lambda: not sleeping())
    code, out, _ = await clew("resume", "t1", "--json")
    assert (code, last(out)["status"], last(out)["answer"]) == (0, "finished", "Never.")
    (record,) = await served.session.registry.list()
    said = (await served.session.values(record))["messages"]
    assert [each.text for each in said if each.type == "human"] == ["wait for ever", "wait for ever"]


async def test_a_stop_from_another_terminal_cancels_it_and_ends_the_run(served, clew):
    run = await clew.begin("run", "wait for ever", "--agent", f"a2a:{served.url}", "--thread", "t1", "--json")
    await until(sleeping)
    code, _, _ = await clew("stop", "t1")
    out, _ = await run.communicate()
    assert (code, run.returncode) == (0, 1)
    assert (last(out)["status"], last(out)["reason"]) == ("cancelled", "stopped")
    assert await states(served.url) == ["canceled"]
    await until(lambda: not sleeping())
    code, out, _ = await clew("resume", "t1", "--json")
    assert (code, last(out)["answer"]) == (0, "Never.")


@pytest.fixture
async def session(tmp_path):
    async with open_session(Settings(home=tmp_path / "ours")) as opened:
        yield opened


@pytest.fixture
def record(tmp_path):
    """A thread whose agent, delegate or step of a plan is the agent at a URL."""

    def record(kind, url):
        step = {"text": "doze off", "agent": agent_spec(f"a2a:{url}").name}
        name = step["agent"]
        plan = {"tool_calls": [{"name": "planning", "args": {"command": "create", "title": "A", "steps": [step]}}]}
        call = {"tool_calls": [{"name": "delegate", "args": {"agent": name, "task": "doze off"}}]}
        (tmp_path / "model.json").write_text(
            json.dumps({"plan": [plan, "Done."], "delegate": [call, "Done."]}.get(kind, []))
        )
        agents = {
            "agent": [agent_spec(f"a2a:{url}")],
            "plan": [agent_spec(f"a2a:{url}")],
            "delegate": [AgentSpec(name="coder", delegates=(f"a2a:{url}",))],
        }
        return ThreadRecord(
            thread="t1",
            graph="plan" if kind == "plan" else "agent",
            agents=agents[kind],
            model=f"script:{tmp_path / 'model.json'}",
        )

    return record


async def run(session, record, input, when=None, then=None):
    """Drive the thread; once `when` is true it is stopped as by two Ctrl-C, and `then` is called a moment later."""
    stop, events = Stop(), []

    async def watch():
        await until(when)
        stop.request()
        stop.request()
        if then:
            asyncio.get_running_loop().call_later(0.2, then)

    watching = asyncio.create_task(watch()) if when else None
    async for event in session.drive(record, input, owner="a test", stop=stop):
        events.append(event)
    if watching:
        await watching
    return events


async def followed(session, record):
    """Whether the run knows of a task at work elsewhere."""
    snapshot = await session.reader(record).aget_state(thread_config("t1"), subgraphs=True)
    return bool(list(remote_tasks(snapshot, AT_WORK)))


@pytest.mark.parametrize("kind", ["agent", "plan", "delegate"])
async def test_it_is_found_at_any_depth(served, session, record, kind):
    thread = record(kind, served.url)
    events = await run(session, thread, task_input("doze off"), lambda: followed(session, thread))
    assert (events[-1].status, events[-1].reason) == ("waiting", "paused")
    assert "notice" not in [event.event for event in events]
    assert await states(served.url) == ["canceled"]
    kept = await session.registry.get("t1")
    assert len(kept.withdrawn) == 1
    events = await run(session, kept, None)
    assert events[-1].status == "finished"
    assert sorted(await states(served.url)) == ["canceled", "completed"]
    assert (await session.registry.get("t1")).withdrawn == []


async def test_a_task_that_was_begun_while_the_run_was_being_stopped_is_cancelled_too(settings, session, record, port):
    url, stopped = f"http://127.0.0.1:{port}", asyncio.Event()

    async with open_session(settings) as theirs:
        card = agent_card(AGENTS["manus"], url, keys=False)
        async with open_app(AgentThreads(theirs, AGENTS["manus"]), card, settings) as app:

            async def slow(scope, receive, send):
                begins = []

                async def read():
                    part = await receive()
                    begins.append(b"SendMessage" in part.get("body", b""))
                    return part

                async def write(part):
                    if any(begins):
                        await stopped.wait()
                    await send(part)

                await app(scope, read, write)

            async with listening(slow, socket.create_server(("127.0.0.1", port))):
                events = await run(session, record("agent", url), task_input("doze off"), sleeping, stopped.set)
                assert (events[-1].status, events[-1].reason) == ("waiting", "paused")
                assert await states(url) == ["canceled"]
                events = await run(session, await session.registry.get("t1"), None)
                assert (events[-1].status, events[-1].answer) == ("finished", "Awake.")
                assert sorted(await states(url)) == ["canceled", "completed"]


@pytest.mark.parametrize("kind", ["plan", "delegate"])
async def test_a_stop_reaches_it_at_any_depth(served, session, record, kind):
    async def stop():
        await until(sleeping)
        return await ask_thread(session, "t1", "stop")

    stopping = asyncio.create_task(stop())
    events = await run(session, record(kind, served.url), task_input("doze off"))
    assert "stops at its next gate" in await stopping
    assert (events[-1].status, events[-1].reason) == ("cancelled", "stopped")
    assert await states(served.url) == ["canceled"]


async def test_a_stop_of_a_thread_that_waits_takes_its_question_back(served, session, record):
    thread = record("agent", served.url)
    events = await run(session, thread, task_input("ask me"))
    assert (events[-1].status, await states(served.url)) == ("waiting", ["input_required"])
    assert await ask_thread(session, "t1", "stop") == "thread t1 is stopped"
    assert await states(served.url) == ["canceled"]


async def test_where_it_cannot_be_cancelled_that_is_told_and_a_resume_goes_on_with_it(start, session, record):
    async with start() as (process, url):
        thread = record("agent", url)

        async def killed():
            if found := await followed(session, thread):
                process.kill()
                await process.wait()
            return found

        events = await run(session, thread, task_input("take your time"), killed)
        assert (events[-2].event, events[-1].reason) == ("notice", "paused")
        advice = "see that it runs, and that the address is right"
        assert events[-2].text.endswith(
            f"may go on at {url}, where it could not be cancelled: the agent at {url} cannot be reached: {advice}"
        )
    async with start():
        events = await run(session, await session.registry.get("t1"), None)
        assert (events[-1].status, events[-1].answer) == ("finished", "Done.")
        assert await states(url) == ["completed"]


async def test_a_stop_that_does_not_reach_it_says_so(serve, session, record):
    async with serve() as served:
        thread = record("agent", served.url)
        await run(session, thread, task_input("ask me"))
    first, second = (await ask_thread(session, "t1", "stop")).splitlines()
    assert first == "thread t1 is stopped"
    assert f"may go on at {served.url}, where it could not be cancelled: the agent at {served.url} cannot be" in second
    assert (await session.view(thread)).status == "cancelled"


async def test_an_agent_that_says_nothing_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(withdrawing, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = await withdraw(url_of(silent), "", "task-1")
    assert said.endswith("where it could not be cancelled: it does not answer within 0.2 seconds")


async def test_a_task_that_has_ended_is_left_as_it_is_and_an_unknown_one_is_told(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("hello"))
        assert await withdraw(served.url, "", task.id) == ""
        assert state(await client.get_task(GetTaskRequest(id=task.id))) == "completed"
    assert "the task nobody may go on" in await withdraw(served.url, "", "nobody")


async def test_a_resume_after_an_error_gives_the_task_once_more(serve, session, record, port):
    thread = record("agent", f"http://127.0.0.1:{port}")
    events = await run(session, thread, task_input("hello"))
    assert events[-1].status == "error"
    async with serve(port=port) as served:
        events = await run(session, thread, continue_remote(await session.values(thread)))
        assert (events[-1].status, events[-1].answer) == ("finished", "First answer.")
        (theirs,) = await served.session.registry.list()
        assert (await served.session.values(theirs))["messages"][0].text == "hello"


async def test_a_question_of_the_second_task_of_a_thread_waits_like_that_of_the_first(served, session, record):
    thread = record("agent", served.url)
    assert (await run(session, thread, task_input("hello")))[-1].status == "finished"
    assert (await run(session, thread, task_input("ask me")))[-1].status == "waiting"
