from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.tools import tool

from clew.models.profile import max_input_tokens, model_name, sees_images, with_profile
from clew.models.scripted import ScriptedModel
from clew.state.settings import ModelSettings


@tool
def bash(command: str) -> str:
    """Run a command."""
    return command


def model(**fields: Any) -> ScriptedModel:
    return ScriptedModel(replies=["x"], **fields)


def test_the_name_is_found_through_bindings() -> None:
    bound = model(model_name="gpt-5").bind_tools([bash]).with_config(tags=["a"])
    assert model_name(bound) == "gpt-5"


def test_a_model_without_a_name_has_that_of_its_class() -> None:
    assert model_name(FakeListChatModel(responses=["x"])) == "FakeListChatModel"


def test_of_an_unknown_model_it_is_assumed_that_it_sees() -> None:
    assert (sees_images(model()), max_input_tokens(model())) == (True, None)


def test_the_providers_data_stay_where_the_settings_are_silent() -> None:
    known = model(profile={"image_inputs": False, "max_input_tokens": 8000})
    changed = with_profile(known, ModelSettings(max_input_tokens=4000)).bind_tools([bash])
    assert (sees_images(changed), max_input_tokens(changed)) == (False, 4000)
    assert max_input_tokens(known) == 8000


@pytest.mark.parametrize("vision", [True, False])
def test_the_settings_decide_whether_a_model_sees(vision: bool) -> None:
    changed = with_profile(model(profile={"image_inputs": not vision}), ModelSettings(vision=vision))
    assert sees_images(changed) is vision


def test_settings_that_say_nothing_leave_the_model_as_it_is() -> None:
    known = model()
    assert with_profile(known, ModelSettings()) is known
