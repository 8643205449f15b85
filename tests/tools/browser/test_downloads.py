import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.state.errors import ToolFailure
from clew.tools.browser.downloads import Downloads, safe_name
from clew.tools.browser.notices import Notices
from clew.tools.workspace import Workspace


@given(st.text(max_size=300))
def test_a_name_is_one_short_visible_file_name(suggested):
    name = safe_name(suggested)
    assert 0 < len(name) <= 141
    assert not name.startswith(".")
    assert not set(name) & set("/\\\0\n")


@pytest.mark.parametrize(
    ("suggested", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..", "download"),
        ("a\\b.txt", "b.txt"),
        ("", "download"),
    ],
)
def test_folders_and_hidden_names_are_dropped(suggested, name):
    assert safe_name(suggested) == name


def test_a_name_that_is_taken_gets_a_number(tmp_path):
    downloads = Downloads(Workspace(tmp_path.resolve()), Notices())
    assert [downloads.write("a.txt", b"x") for _ in range(3)] == [
        "downloads/a.txt",
        "downloads/a-1.txt",
        "downloads/a-2.txt",
    ]


def test_a_folder_that_leads_out_of_the_workspace_is_refused(tmp_path):
    outside = tmp_path / "outside"
    workspace = tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (workspace / "downloads").symlink_to(outside)
    with pytest.raises(ToolFailure, match="outside the workspace"):
        Downloads(Workspace(workspace.resolve()), Notices()).write("a.txt", b"x")
    assert list(outside.iterdir()) == []
