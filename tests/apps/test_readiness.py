from __future__ import annotations

import pytest

from clew.apps.readiness import check_agents, check_workspace
from clew.graphs import AgentSpec
from clew.state.condensation import Recent, Summarize
from clew.state.errors import UsageError
from clew.state.settings import Settings


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


def test_the_condensers_that_an_agent_would_use_are_looked_at_and_no_others():
    settings = Settings(condense=[Summarize(model="wrong")])
    own = AgentSpec(name="writer", condensers=(Summarize(model="worse"),))
    elsewhere = AgentSpec(name="crete", remote="https://agents.example")
    check_agents([elsewhere, AgentSpec(name="reader", condensers=(Recent(), Summarize()))], settings)
    with pytest.raises(UsageError, match=r"^\[\[condense\]\] model: no model is called 'wrong'"):
        check_agents([AgentSpec(name="plain")], settings)
    with pytest.raises(UsageError, match=r"^condenser of the agent writer: no model is called 'worse'"):
        check_agents([elsewhere, own], settings)
