"""The view of the history that a request carries."""

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from clew.nodes.view import cut_middle, message_groups, note, sent_view, shortened


def call(identifier, name="bash"):
    return {"name": name, "args": {}, "id": identifier, "type": "tool_call"}


@st.composite
def histories(draw):
    """Histories as crashes, people and models leave them: calls without results, results without calls, empties."""
    history = [HumanMessage("the task", id="task")]
    for number in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(["step", "step", "step", "unanswered", "orphan", "empty", "user", "text"]))
        if kind in ("step", "unanswered"):
            calls = [call(f"{number}-{index}") for index in range(draw(st.integers(1, 3)))]
            history.append(AIMessage("", tool_calls=calls))
            answered = calls if kind == "step" else calls[1:]
            history += [ToolMessage("result " * draw(st.integers(1, 9)), tool_call_id=c["id"]) for c in answered]
        elif kind == "orphan":
            history.append(ToolMessage("late", tool_call_id="nobody"))
        elif kind == "empty":
            history.append(AIMessage(""))
        elif kind == "user":
            history.append(HumanMessage("and this"))
        else:
            history.append(AIMessage("words"))
    return history


def is_valid(messages):
    """OpenAI's rules: each call is answered at once and once, no result stands alone, no reply is empty."""
    waiting = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                return False
            waiting.remove(message.tool_call_id)
            continue
        if waiting or (isinstance(message, AIMessage) and not (message.content or message.tool_calls)):
            return False
        waiting = [c["id"] for c in message.tool_calls] if isinstance(message, AIMessage) else []
    return not waiting


def words(messages):
    return sum(len(str(message.content).split()) + 1 for message in messages)


@settings(max_examples=40)
@given(histories(), st.integers(8, 30), st.one_of(st.none(), st.integers(120, 200)))
def test_every_view_along_a_run_is_valid_bounded_and_begins_with_the_task(history, max_messages, max_tokens):
    cut = 0
    for end in range(1, len(history) + 1):
        view = sent_view(
            history[:end], task=0, cut=cut, max_messages=max_messages, max_tokens=max_tokens, count_tokens=words
        )
        assert is_valid(view.messages)
        assert view.messages[0] is history[0]
        assert len(view.messages) <= max_messages
        assert max_tokens is None or words(view.messages) <= max_tokens
        assert view.cut >= cut
        cut = view.cut


def test_the_cut_moves_in_jumps_so_that_requests_share_their_prefix():
    history, cut, cuts = [HumanMessage("the task", id="task")], 0, []
    for number in range(200):
        history += [AIMessage("", tool_calls=[call(str(number))]), ToolMessage("done", tool_call_id=str(number))]
        cut = sent_view(history, task=0, cut=cut, max_messages=100).cut
        cuts.append(cut)
    assert len(set(cuts)) <= 200 * 2 / (100 / 2) + 1


def test_a_group_longer_than_the_bound_is_sent_whole():
    calls = [call(str(number)) for number in range(30)]
    history = [
        HumanMessage("the task"),
        AIMessage("", tool_calls=calls),
        *[ToolMessage("ok", tool_call_id=c["id"]) for c in calls],
    ]
    view = sent_view(history, task=0, cut=0, max_messages=10)
    assert is_valid(view.messages)
    assert len(view.messages) == 32


def test_the_newest_task_is_the_pinned_one():
    history = [HumanMessage("old"), AIMessage("answer"), HumanMessage("new"), *[AIMessage(f"{n}") for n in range(50)]]
    view = sent_view(history, task=2, cut=0, max_messages=10)
    assert view.messages[0].content == "new"
    assert all(message.content != "old" for message in view.messages)


def test_a_call_without_a_result_gets_an_answer_that_warns():
    history = [AIMessage("", tool_calls=[call("a"), call("b")]), ToolMessage("ok", tool_call_id="b")]
    answers = next(message_groups(history)).messages[1:]
    assert [(answer.tool_call_id, answer.status) for answer in answers] == [("a", "error"), ("b", "success")]
    assert "may have taken effect" in answers[0].content


def test_a_long_text_keeps_its_head_and_tail_and_says_what_is_missing():
    cut = cut_middle("a" * 600 + "b" * 600, 100, "outputs/x.txt")
    assert cut.startswith("a" * 50 + "\n")
    assert cut.endswith("\n" + "b" * 50)
    assert "1100 characters left out; the whole is in outputs/x.txt" in cut


def test_only_long_tool_results_are_shortened():
    long = ToolMessage("x" * 5000, tool_call_id="a")
    kept = [HumanMessage("y" * 5000), ToolMessage("short", tool_call_id="b")]
    first, *rest = shortened([long, *kept], 100)
    assert len(first.content) < 200
    assert rest == kept


def test_a_note_of_ours_is_not_a_task():
    view = sent_view([HumanMessage("the task"), AIMessage("a"), note("call a tool")], task=0, cut=0, max_messages=10)
    assert [message.content for message in view.messages] == ["the task", "a", "call a tool"]
