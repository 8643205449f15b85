import pytest

from clew.state.errors import ToolFailure
from clew.tools.workspace import Workspace, open_workspace


def test_the_constructors_folder_goes_before_the_configs_and_the_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "home"))
    config = {"configurable": {"workspace": str(tmp_path / "configured")}}
    assert open_workspace(config, tmp_path / "own", "t").root == tmp_path / "own"
    assert open_workspace(config, None, "t").root == tmp_path / "configured"
    assert open_workspace({}, None, "t").root == tmp_path / "home" / "workspaces" / "t"


def test_it_is_made_for_its_owner_alone(tmp_path):
    assert open_workspace(None, tmp_path / "a" / "b", "t").root.stat().st_mode & 0o777 == 0o700


def test_a_workspace_behind_a_link_goes_by_its_real_path(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    workspace = open_workspace(None, tmp_path / "link", "t")
    assert workspace.root == tmp_path / "real"
    assert workspace.resolve("a") == tmp_path / "real" / "a"


def test_paths_inside_are_named_relative_to_it(tmp_path):
    workspace = Workspace(tmp_path)
    assert workspace.resolve("a/../b") == workspace.resolve(str(tmp_path / "b")) == tmp_path / "b"
    assert workspace.name(tmp_path / "a" / "b") == "a/b"


@pytest.mark.parametrize("path", ["..", "/", "a/../..", "/etc/passwd", "loop", "a\0"])
def test_paths_outside_and_impossible_ones_are_refused(tmp_path, path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").symlink_to("..")
    with pytest.raises(ToolFailure):
        Workspace(tmp_path).resolve(path)
    with pytest.raises(ToolFailure):
        Workspace(tmp_path).resolve("out/" + path)


def test_a_neighbour_whose_name_begins_alike_is_outside(tmp_path):
    with pytest.raises(ToolFailure):
        Workspace(tmp_path / "work").resolve("../workshop")
