import pytest

from clew.state.errors import ToolFailure

TOOL = "file_view"


@pytest.fixture
def file(call):
    call.workspace.mkdir()
    (call.workspace / "a.txt").write_text("one\ntwo\nthree\n")
    return call.workspace / "a.txt"


async def test_a_text_file_is_shown_with_the_numbers_of_its_lines(call, file):
    assert (await call(path="a.txt", view_range=[2, -1])).content == "     2\ttwo\n     3\tthree"


async def test_a_folder_is_shown_with_what_is_in_it(call, file):
    assert (await call(path=".")).content == "a.txt"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"path": "b.txt"}, "There is no file b.txt"),
        ({"path": "../b.txt"}, "outside"),
        ({"path": ".", "view_range": [1, 2]}, "is a folder; leave `view_range` out"),
        ({"path": "a.txt", "view_range": [7, 9]}, "the lines are 1 to 3"),
    ],
)
async def test_what_cannot_be_shown_is_said_in_a_sentence(call, file, arguments, complaint):
    with pytest.raises(ToolFailure, match=complaint):
        await call(**arguments)


async def test_nothing_is_written(call, file):
    before = {path: path.stat().st_mtime_ns for path in call.workspace.rglob("*")}
    await call(path="a.txt")
    assert {path: path.stat().st_mtime_ns for path in call.workspace.rglob("*")} == before
