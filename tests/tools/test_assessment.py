from langchain_core.tools import StructuredTool

from clew.tools.assessment import risk_of_call
from clew.tools.browser.tool import BrowserUse
from clew.tools.traits import Traits


async def test_a_tool_that_does_not_assess_its_calls_has_the_risk_of_its_traits():
    metadata = Traits(risk="high").metadata()
    tool = StructuredTool.from_function(lambda: "", name="foreign", description="A tool.", metadata=metadata)
    assert await risk_of_call(tool, {}, {}) == "high"


async def test_a_call_of_the_browser_is_assessed_by_what_it_does():
    browser = BrowserUse()
    assert await risk_of_call(browser, {"action": "scroll_down"}, {}) == "low"
    assert await risk_of_call(browser, {"action": "go_to_url", "url": "https://example.com"}, {}) == "medium"
    assert await risk_of_call(browser, {"action": "upload_file", "index": 0, "path": "a"}, {}) == "high"


async def test_malformed_arguments_are_no_reason_to_fail():
    browser = BrowserUse()
    assert await risk_of_call(browser, {"action": "click_element", "index": ["0"]}, {}) == "unknown"
    assert await risk_of_call(browser, {}, {}) == "medium"
