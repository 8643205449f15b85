import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from clew.state.errors import ToolFailure
from clew.tools.delegate import Delegate, delegate_tool

AGENTS = {"browsing": "Finds things on the web.", "swe": "Mends code."}


def test_the_model_sees_who_there_is_and_what_for():
    function = convert_to_openai_tool(delegate_tool(AGENTS))["function"]
    assert function["parameters"]["properties"]["agent"]["enum"] == ["browsing", "swe"]
    assert function["parameters"]["required"] == ["agent", "task"]
    assert function["description"].endswith("The agents:\n- `browsing`: Finds things on the web.\n- `swe`: Mends code.")


async def test_a_call_for_nobody_is_refused_with_who_there_is():
    with pytest.raises(ValidationError, match="Input should be 'browsing' or 'swe'"):
        await delegate_tool(AGENTS).ainvoke({"agent": "nobody", "task": "look"})


async def test_outside_of_a_graph_there_is_nobody():
    with pytest.raises(ToolFailure, match="no agent 'swe' to delegate to; do it yourself"):
        await Delegate().ainvoke({"agent": "swe", "task": "look"})
