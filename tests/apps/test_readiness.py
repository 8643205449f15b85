from __future__ import annotations

import pytest

from clew.apps.readiness import check_workspace
from clew.state.errors import UsageError


@pytest.mark.parametrize("place", ["note", "note/below", "link", "link/below/it"])
def test_a_workspace_that_cannot_be_a_folder_is_refused(tmp_path, place):
    (tmp_path / "note").write_text("a file")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"is no folder; name one.* `workspace` in clew\.toml$"):
        check_workspace(tmp_path / place)


@pytest.mark.parametrize("place", [".", "there", "there/below/it", "link", "new"])
def test_a_workspace_that_is_a_folder_or_can_be_made_is_left_as_it_is(tmp_path, place):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    check_workspace(tmp_path / place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "there"]
