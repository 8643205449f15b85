import asyncio
import json
from typing import get_args

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from clew.state.errors import ToolFailure, UsageError
from clew.tools.browser.actions.dispatch import ACTIONS, required
from clew.tools.browser.arguments import ActionName, BrowserArguments
from clew.tools.browser.settings import BrowserSettings
from clew.tools.browser.tool import BrowserUse
from clew.tools.resources import resources
from clew.tools.traits import Traits, traits_of

SEED_ACTIONS = {
    "go_to_url": ("url",),
    "click_element": ("index",),
    "input_text": ("index", "text"),
    "scroll_down": (),
    "scroll_up": (),
    "scroll_to_text": ("text",),
    "send_keys": ("keys",),
    "get_dropdown_options": ("index",),
    "select_dropdown_option": ("index", "text"),
    "go_back": (),
    "web_search": ("query",),
    "wait": (),
    "extract_content": ("goal",),
    "switch_tab": ("tab_id",),
    "open_tab": ("url",),
    "close_tab": (),
}


def test_the_actions_are_the_seeds_and_ours_with_their_arguments():
    further = {"refresh", "go_forward", "hover", "drag", "click_at", "upload_file", "state"}
    assert set(get_args(ActionName)) == SEED_ACTIONS.keys() | further == ACTIONS.keys() | {"state"}
    assert {name: required(name) for name in SEED_ACTIONS} == SEED_ACTIONS


def test_every_argument_is_described_to_the_model():
    schema = convert_to_openai_tool(BrowserUse())["function"]["parameters"]
    assert schema["required"] == ["action"]
    assert set(schema["properties"]) == set(BrowserArguments.model_fields)
    assert all(field["description"] for field in schema["properties"].values())


def test_calls_are_neither_parallel_nor_repeated():
    assert traits_of(BrowserUse()) == Traits(parallel=False, idempotent=False, risk="medium")


@pytest.mark.parametrize("action", [name for name in ACTIONS if required(name)])
async def test_a_missing_argument_is_a_failure_that_names_it_and_starts_no_browser(action):
    tool = BrowserUse()
    with pytest.raises(ToolFailure) as caught:
        await tool.ainvoke({"action": action})
    assert str(caught.value) == f"{action} needs {' and '.join(f'`{name}`' for name in required(action))}"
    assert len(resources()) == 0


async def test_an_unknown_action_is_refused():
    with pytest.raises(ValidationError, match="action"):
        await BrowserUse().ainvoke({"action": "fly"})


async def test_without_a_browser_the_call_ends_with_what_to_type(tmp_path):
    tool = BrowserUse(settings=BrowserSettings(executable=tmp_path / "none"), workspace=tmp_path)
    with pytest.raises(UsageError, match="playwright install chromium"):
        await tool.ainvoke({"action": "state"})


@pytest.mark.needs("chromium")
@pytest.mark.asyncio(loop_scope="session")
async def test_a_browser_starts_with_the_first_call_and_ends_with_the_lease(site, tmp_path):
    from clew.tools.web.guard import PublicAddresses

    tool = BrowserUse(workspace=tmp_path, guard=PublicAddresses(["127.0.0.1"]))
    assert not tool.is_open({})
    call = {"name": "browser_use", "args": {"action": "go_to_url", "url": site.page("hi")}, "id": "1"}
    message = await tool.ainvoke({**call, "type": "tool_call"})
    assert message.artifact["url"].startswith("http://127.0.0.1")
    assert json.loads(json.dumps(message.artifact)) == message.artifact
    assert tool.is_open({})
    await resources().close_owned(tool.lease)
    assert not tool.is_open({})


@pytest.mark.needs("chromium")
@pytest.mark.asyncio(loop_scope="session")
async def test_calls_at_the_same_time_take_turns(browsing, site):
    await browsing.open(site.page("<input><input>"))
    await asyncio.gather(
        browsing("input_text", index=0, text="first field"), browsing("input_text", index=1, text="second field")
    )
    values = await browsing.evaluate("[...document.querySelectorAll('input')].map((each) => each.value)")
    assert values == ["first field", "second field"]


@pytest.mark.needs("chromium")
@pytest.mark.asyncio(loop_scope="session")
async def test_the_risk_of_a_click_is_known_from_what_it_clicks(browsing, site):
    call = {"action": "click_element", "index": 0}
    assert await browsing.tool.assess({}, call) == "unknown"
    assert not browsing.tool.is_open({})
    await browsing.open(site.page("<button>Buy now</button><button>More</button>"))
    assert await browsing.tool.assess({}, call) == "high"
    assert await browsing.tool.assess({}, {**call, "index": 1}) == "medium"


@pytest.mark.needs("chromium")
@pytest.mark.asyncio(loop_scope="session")
async def test_two_agents_of_a_thread_have_a_browser_each(browsing, site):
    await browsing.open(site.page("mine"))
    browsing.config = {"configurable": {"thread_id": "t", "checkpoint_ns": "child:1|act:2"}}
    await browsing("state")
    assert browsing.artifact["url"] == "about:blank"
