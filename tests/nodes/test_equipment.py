from pathlib import Path

import pytest

from clew.graphs.specs import agent_spec
from clew.nodes.equipment import Equipment
from clew.nodes.model_source import ModelSource
from clew.state.settings import Settings


@pytest.mark.parametrize(
    ("backend", "shown"), [("local", "/home/ann/work"), ("docker", "/workspace"), ("daytona", "/workspace")]
)
def test_the_model_is_shown_the_workspace_where_commands_see_it(backend, shown):
    settings = Settings.model_validate({"sandbox": {"backend": backend}})
    equipment = Equipment(agent_spec("manus"), {}, ModelSource(settings, None), settings)
    prompt = equipment.system_prompt(Path("/home/ann/work"))
    assert f"`{shown}`" in prompt
    assert ("/home/ann" in prompt) == (backend == "local")
