import pytest

from clew.state.errors import ToolFailure

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


async def test_tabs_are_opened_switched_and_closed_under_ids_that_stay(browsing, site):
    one, two, three = site.page("one"), site.page("two"), site.page("three")
    await browsing("go_to_url", url=one)
    await browsing("open_tab", url=two)
    await browsing("open_tab", url=three)
    assert await browsing.look() == "three"
    tabs = browsing.artifact["state"]["tabs"]
    assert [(tab["id"], tab["url"], tab["active"]) for tab in tabs] == [
        (0, one, False),
        (1, two, False),
        (2, three, True),
    ]
    assert f"  2: {three} (active)" in browsing.text
    await browsing("switch_tab", tab_id=1)
    assert await browsing.look() == "two"
    await browsing("close_tab")
    await browsing("switch_tab", tab_id=0)
    assert await browsing.look() == "one"
    with pytest.raises(ToolFailure, match="no tab 1: the open tabs are 0, 2"):
        await browsing("switch_tab", tab_id=1)


async def test_closing_the_last_tab_leaves_a_blank_one(browsing, site):
    await browsing("go_to_url", url=site.page("one"))
    await browsing("close_tab")
    assert browsing.artifact["url"] == "about:blank"


async def test_a_tab_that_closes_itself_gives_way_to_another(browsing, site):
    one = site.page("<button onclick='w = window.open(`/made/none`)'>open</button>")
    await browsing.open(one)
    await browsing("click_element", index=0)
    page = await (await browsing.session()).page()
    async with page.expect_event("close"):
        await browsing.evaluate("setTimeout(() => close(), 50)")
    assert "open" in await browsing.look()
    assert browsing.artifact["url"] == one
