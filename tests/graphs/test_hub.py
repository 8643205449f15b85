"""The hub: study, code, verify, and again until it is done (the seed's Delegator, agent-hub.md)."""

import pytest
from langchain_core.messages import SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from small_repository import TEST_COMMAND, changed_files, found, make_repository, run_tests

from clew.graphs import RunContext, continue_hub, create_hub
from clew.models.scripted import ScriptedModel
from clew.state.errors import UsageError
from clew.state.settings import Settings
from clew.tools.resources import resources

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "Mend the program.")]}
ROLES = {"You study": "study", "by running code": "code", "You verify": "verify"}


def call(name, content="", **args):
    return {"content": content, "tool_calls": [{"name": name, "args": args}]}


def done(answer, status="success"):
    return call("terminate", status=status, answer=answer)


def verdict(completed, summary):
    return call("verdict", completed=completed, summary=summary)


def role_of(messages):
    system = next(message.text for message in messages if isinstance(message, SystemMessage))
    return next(role for words, role in ROLES.items() if words in system)


@pytest.fixture
async def hub(tmp_path):
    """Make a hub whose built-in agents say the replies given for them, one after the other."""

    def make(checkpointer=None, max_rounds=3, **replies):
        requests = []
        left = {role: list(said) for role, said in replies.items()}

        def reply(messages, tools):
            role = role_of(messages)
            requests.append((role, messages[1].text))
            return left[role].pop(0)

        graph = create_hub(
            model=ScriptedModel(reply=reply),
            max_rounds=max_rounds,
            checkpointer=checkpointer,
            settings=Settings(home=tmp_path),
            workspace=tmp_path / "workspace",
        )
        return graph, requests

    yield make
    await resources().close_all()


STUDY = [done("The program is in a.py.")]


async def test_a_task_that_is_completed_takes_one_round(hub):
    graph, requests = hub(study=STUDY, code=[done("I mended it.")], verify=[verdict(True, "The tests pass.")])
    state = await graph.ainvoke(TASK)
    assert (state["status"], state["outcome"].success, state["outcome"].reason) == ("finished", True, "verified")
    assert state["outcome"].answer == "I mended it.\n\nVerified: The tests pass."
    assert state["outcome"].outputs == {"completed": True, "summary": "The tests pass."}
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert [role for role, _ in requests] == ["study", "code", "verify"]
    assert (state["progress"]["steps"], state["progress"]["usage"]["llm_calls"]) == (3, 3)


async def test_each_agent_is_told_what_it_needs_and_the_verifier_only_the_task(hub):
    graph, requests = hub(
        study=STUDY,
        code=[done("I mended it."), done("Now I did.")],
        verify=[verdict(False, "test_b fails."), verdict(True, "All pass.")],
    )
    state = await graph.ainvoke(TASK)
    assert [role for role, _ in requests] == ["study", "code", "verify", "code", "verify"]
    texts = [text for _, text in requests]
    assert "The program is in a.py." in texts[1]
    assert "I mended it." not in texts[2]
    assert all(part in texts[3] for part in ("The program is in a.py.", "I mended it.", "test_b fails."))
    assert [turn["round"] for turn in state["turns"]] == [0, 1, 1, 2, 2]
    assert state["outcome"].answer == "Now I did.\n\nVerified: All pass."


async def test_the_rounds_are_bounded_and_what_is_missing_is_said(hub):
    graph, requests = hub(
        max_rounds=2,
        study=STUDY,
        code=[done("Done."), done("Done again.")],
        verify=[verdict(False, "Nothing works."), verdict(False, "Still nothing works.")],
    )
    state = await graph.ainvoke(TASK)
    assert (state["status"], state["outcome"].success, state["outcome"].reason) == ("limit", False, "max_rounds")
    assert state["outcome"].answer == "Done again.\n\nNot completed: Still nothing works."
    assert len(requests) == 5


async def test_a_run_that_used_up_its_rounds_can_have_as_many_again(hub):
    graph, requests = hub(
        InMemorySaver(),
        max_rounds=1,
        study=STUDY,
        code=[done("Done."), done("Done again.")],
        verify=[verdict(False, "Nothing works."), verdict(True, "It works.")],
    )
    state = await graph.ainvoke(TASK, THREAD)
    assert state["status"] == "limit"
    state = await graph.ainvoke(continue_hub(state), THREAD)
    assert (state["status"], state["outcome"].reason) == ("finished", "verified")
    assert [role for role, _ in requests] == ["study", "code", "verify", "code", "verify"]


async def test_an_agent_that_rejects_the_task_ends_the_run_as_rejected(hub):
    graph, requests = hub(study=[call("reject", reason="There is no repository.", outputs={"files": 0})])
    state = await graph.ainvoke(TASK)
    assert (state["status"], state["outcome"].reason) == ("rejected", "There is no repository.")
    assert state["outcome"].outputs == {"files": 0}
    assert len(requests) == 1


async def test_a_model_that_fails_ends_the_run_and_only_that_turn_is_taken_again(hub):
    failure = {"error": {"status": 400, "message": "the key is wrong"}}
    graph, requests = hub(
        InMemorySaver(), study=STUDY, code=[failure, done("I mended it.")], verify=[verdict(True, "It works.")]
    )
    state = await graph.ainvoke(TASK, THREAD)
    assert state["status"] == "error"
    assert "the key is wrong" in state["outcome"].reason
    state = await graph.ainvoke(continue_hub(state), THREAD)
    assert (state["status"], state["outcome"].reason) == ("finished", "verified")
    assert [role for role, _ in requests] == ["study", "code", "code", "verify"]


async def test_a_verifier_without_a_verdict_did_not_see_the_task_completed(hub):
    again = [call("file_search", "I look.", glob=f"{number}*") for number in range(20)]
    graph, _ = hub(max_rounds=1, study=STUDY, code=[done("Done.")], verify=again)
    state = await graph.ainvoke(TASK)
    assert (state["status"], state["outcome"].success) == ("limit", False)
    assert "Not completed: There is no verdict: verifier ended as limit." in state["outcome"].answer


async def test_the_steps_of_all_agents_share_the_limit_of_the_run(hub):
    graph, requests = hub(
        InMemorySaver(),
        study=STUDY,
        code=[call("bash", command="true"), done("I mended it.")],
        verify=[verdict(True, "Ok")],
    )
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(max_steps=2, headless=True))
    assert (state["status"], state["outcome"].reason) == ("limit", "max_steps")
    assert len(requests) == 2
    assert state["progress"]["next"] == "code"
    state = await graph.ainvoke(continue_hub(state), THREAD, context=RunContext(max_steps=9, headless=True))
    assert (state["status"], len(requests)) == ("finished", 4)


async def test_a_limit_between_two_turns_is_asked_about(hub):
    graph, requests = hub(InMemorySaver(), study=STUDY, code=[done("Ok.")], verify=[verdict(True, "It works.")])
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(max_steps=1))
    [asked] = state["__interrupt__"]
    assert (asked.value["kind"], asked.value["path"]) == ("limit", ["hub"])
    state = await graph.ainvoke(Command(resume=10), THREAD, context=RunContext(max_steps=1))
    assert (state["status"], len(requests)) == ("finished", 3)


async def test_the_agents_stand_in_the_drawing_and_in_the_state(hub):
    graph, _ = hub(InMemorySaver(), study=STUDY, code=[done("I mended it.")], verify=[verdict(True, "It works.")])
    drawing = graph.get_graph(xray=1).draw_mermaid()
    assert all(f"subgraph {node}" in drawing for node in ("study", "code", "verify"))


async def test_a_new_task_on_the_thread_begins_with_a_study_and_new_rounds(hub):
    graph, requests = hub(
        InMemorySaver(),
        study=STUDY * 2,
        code=[done("One."), done("Two.")],
        verify=[verdict(True, "It works.")] * 2,
    )
    await graph.ainvoke(TASK, THREAD)
    state = await graph.ainvoke({"messages": [("user", "And now the other one.")]}, THREAD)
    assert state["outcome"].answer == "Two.\n\nVerified: It works."
    assert (state["progress"]["round"], state["progress"]["steps"]) == (1, 3)
    assert "And now the other one." in requests[4][1]
    assert "One." not in requests[4][1]


def test_no_round_at_all_is_refused():
    with pytest.raises(UsageError, match="max_rounds must be at least 1"):
        create_hub(max_rounds=0)


def colleagues(messages, tools):
    """What each agent does next on the small repository, given the results of its tools so far."""
    results = [message.text for message in messages if isinstance(message, ToolMessage)]
    return {"study": student, "code": coder, "verify": verifier}[role_of(messages)](messages[1].text, results)


def student(task, results):
    match len(results):
        case 0:
            return call("file_view", path=".")
        case 1:
            return call("file_view", path=found(r"^(README\S*)$", results[0]))
        case 2:
            return call("file_search", pattern=r"\[1:\]", glob="*.py")
    return done(f"Tests: {found('Tests: `(.*)`', results[1])}\nSuspicious: {found('^(.*)$', results[2])}")


def coder(task, results):
    path, command = found(r"Suspicious: (\S+?):\d", task), found("Tests: (.*)", task)
    match len(results), "verified the work" in task:
        case 0, _:
            return call("str_replace_editor", command="view", path=path)
        case 1, False:
            line = found(r"\t(.*\[1:\].*)$", results[0])
            edit = {"old_str": line, "new_str": line.replace("[1:]", "[2:]")}
            return call("str_replace_editor", command="str_replace", path=path, **edit)
        case 2, False:
            return done("I think that it is right now.")
        case 1, True:
            assert "test_a_basket_costs_what_is_in_it" in task
            line = found(r"\t(.*\[2:\].*)$", results[0])
            edit = {"old_str": line, "new_str": line.replace("[2:]", "")}
            return call("str_replace_editor", command="str_replace", path=path, **edit)
        case 2, True:
            return call("bash", command=command)
    return done(f"The tests say {found('^(OK|FAILED)', results[2])}.")


def verifier(task, results):
    if not results:
        return call("bash", command=TEST_COMMAND)
    if "FAILED" in results[0]:
        return verdict(False, f"{found(r'FAIL: ([a-z_]+)', results[0])} fails.")
    return verdict(True, f"All {found(r'Ran ([0-9]+) tests', results[0])} tests pass.")


async def test_the_built_in_agents_mend_a_real_repository_in_two_rounds(tmp_path):
    repository = make_repository(tmp_path / "repository")
    model, settings = ScriptedModel(reply=colleagues), Settings(home=tmp_path)
    graph = create_hub(model=model, settings=settings, workspace=repository)
    try:
        state = await graph.ainvoke(TASK)
    finally:
        await resources().close_all()
    assert (state["status"], state["progress"]["round"]) == ("finished", 2)
    assert state["outcome"].answer == "The tests say OK.\n\nVerified: All 3 tests pass."
    assert run_tests(repository)[0]
    assert changed_files(repository) == ["shop/prices.py"]
