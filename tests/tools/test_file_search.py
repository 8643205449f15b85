import pytest

from clew.state.errors import ToolFailure

TOOL = "file_search"

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def folder(call):
    for name, text in {
        "a.py": "import os\nprint(os.name)\n",
        "src/b.py": "import sys\n",
        "src/deep/c.ts": "import x\nIMPORT y\n",
        "build/d.py": "import built\n",
        "notes.txt": "import\n",
    }.items():
        file = call.workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return call.workspace


async def found(call, **arguments):
    return (await call(**arguments)).content.splitlines()


async def test_files_are_found_by_name_at_any_depth(call, folder):
    assert await found(call, glob="*.py") == ["a.py", "build/d.py", "src/b.py"]


async def test_a_glob_with_folders_counts_from_the_searched_folder(call, folder):
    assert await found(call, glob="src/**/*.ts") == ["src/deep/c.ts"]
    assert await found(call, glob="deep/*.ts", path="src") == ["src/deep/c.ts"]


async def test_lines_are_found_by_content_with_their_numbers(call, folder):
    assert await found(call, pattern=r"^import \w+$", glob="*.py", path="src") == ["src/b.py:1: import sys"]
    assert await found(call, pattern="os", path="a.py") == ["a.py:1: import os", "a.py:2: print(os.name)"]


async def test_case_counts_unless_told_otherwise(call, folder):
    assert len(await found(call, pattern="import", path="src/deep")) == 1
    assert len(await found(call, pattern="import", path="src/deep", ignore_case=True)) == 2


async def test_what_gitignore_names_is_passed_over_at_every_level(call, folder):
    (folder / ".gitignore").write_text("build/\n*.txt\n")
    (folder / "src" / ".gitignore").write_text("deep\n!kept.txt\n")
    (folder / "src" / "kept.txt").touch()
    assert await found(call) == [".gitignore", "a.py", "src/.gitignore", "src/b.py", "src/kept.txt"]


async def test_binary_files_and_tool_folders_are_not_searched(call, folder):
    (folder / "binary").write_bytes(b"import\0")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("import")
    lines = await found(call, pattern="import")
    assert not [line for line in lines if line.startswith((".git", "binary"))]


async def test_more_results_than_asked_for_are_announced(call, folder):
    lines = await found(call, max_results=2)
    assert lines == ["a.py", "build/d.py", "[more than 2 results; narrow the search]"]


async def test_nothing_found_is_said(call, folder):
    assert await found(call, pattern="absent") == ["[nothing found]"]


async def test_a_broken_pattern_is_refused_with_its_reason(call, folder):
    with pytest.raises(ToolFailure, match="no regular expression: missing"):
        await call(pattern="(")


async def test_a_pattern_that_never_ends_is_stopped(call, folder, monkeypatch):
    monkeypatch.setattr("clew.tools.file_search.SECONDS", 1.0)
    (folder / "long").write_text("a" * 200 + "!")
    with pytest.raises(ToolFailure, match="simpler pattern"):
        await call(pattern="^(a+)+$", path="long")


@pytest.mark.parametrize("path", ["..", "/etc", "link", "absent"])
async def test_only_what_is_in_the_workspace_is_searched(call, folder, path):
    (folder / "link").symlink_to(folder.parent)
    with pytest.raises(ToolFailure):
        await call(path=path)
