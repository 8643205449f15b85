"""What a call would do, before it is made."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tools.catalog import build_tools
from clew.tools.editor.difference import difference
from clew.tools.preview import kind_of_call, preview_of_call

CONFIG = {"configurable": {"thread_id": "t"}}

EDITS = [
    {"command": "create", "path": "new.txt", "file_text": "a\nb"},
    {"command": "str_replace", "path": "a.txt", "old_str": "two", "new_str": "2"},
    {"command": "str_replace", "path": "a.txt", "old_str": "two\n"},
    {"command": "insert", "path": "a.txt", "insert_line": 0, "new_str": "zero"},
]


@pytest.fixture
def editor(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    [tool] = build_tools(["str_replace_editor"], workspace=tmp_path)
    return tool


@pytest.mark.parametrize("arguments", EDITS)
async def test_the_difference_that_is_shown_is_the_one_that_is_made(editor, tmp_path, arguments):
    file = tmp_path / arguments["path"]
    before = file.read_text() if file.exists() else None
    preview = await preview_of_call(editor, arguments, CONFIG)
    assert (file.read_text() if file.exists() else None) == before
    await editor.ainvoke(arguments, CONFIG)
    assert preview["language"] == "diff"
    assert preview["text"] == difference(arguments["path"], before, file.read_text())
    assert set(preview["arguments"]) == arguments.keys()


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "view", "path": "a.txt"},
        {"command": "create", "path": "a.txt", "file_text": "x"},
        {"command": "str_replace", "path": "a.txt", "old_str": "four", "new_str": "4"},
        {"command": "str_replace", "path": "nowhere.txt", "old_str": "four", "new_str": "4"},
        {"command": "str_replace", "path": "../../etc/passwd", "old_str": "root", "new_str": "me"},
        {"command": "dance"},
        {},
    ],
)
async def test_an_edit_that_would_change_nothing_or_fail_is_shown_by_its_arguments(editor, arguments):
    assert (await preview_of_call(editor, arguments, CONFIG))["text"] == ""


lines = st.lists(st.sampled_from(["a", "b", "--- c", "+", ""]), max_size=5)


@given(lines, lines, st.booleans(), st.booleans())
def test_a_difference_takes_one_text_to_the_other(before, after, ends, ended):
    old, new = ("\n".join(part) + ("\n" if end else "") for part, end in ((before, ends), (after, ended)))
    shown = difference("f", old, new)
    assert (shown == "") == (old == new)
    found = [line for line in shown.split("\n")[2:] if not line.startswith(("@@", "\\"))]
    kept = [line[1:] for line in found if line[:1] in (" ", "+")]
    if shown:
        assert set(kept) <= set(new.split("\n"))
        removed = sum(line.startswith("-") for line in found)
        added = sum(line.startswith("+") for line in found)
        matcher = difflib.SequenceMatcher(None, old.splitlines(True), new.splitlines(True))
        codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
        assert (removed, added) == (sum(c[2] - c[1] for c in codes), sum(c[4] - c[3] for c in codes))


@pytest.mark.parametrize(
    ("name", "arguments", "language", "text"),
    [
        ("bash", {"command": "ls", "timeout": 3}, "bash", "ls"),
        ("bash", {"input": "yes"}, "", ""),
        ("python_execute", {"code": "print(1)"}, "python", "print(1)"),
        ("planning", {"command": "list"}, "", ""),
        ("bash", {"command": ["ls"]}, "", ""),
    ],
)
async def test_the_command_or_the_code_is_found_among_the_arguments(name, arguments, language, text):
    [tool] = build_tools([name])
    preview = await preview_of_call(tool, arguments, CONFIG)
    assert (preview["language"], preview["text"]) == (language, text)


def test_a_kind_is_the_tool_what_it_is_told_to_do_and_the_risk():
    bash, editor, planning = build_tools(["bash", "str_replace_editor", "planning"])
    assert kind_of_call(bash, {"command": "rm -rf /"}, "high") == "bash (high risk)"
    assert (
        kind_of_call(editor, {"command": "create", "path": "a"}, "medium") == "str_replace_editor create (medium risk)"
    )
    assert kind_of_call(planning, {"command": "list"}, "low") == "planning list (low risk)"
