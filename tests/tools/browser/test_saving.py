import json

import pytest

from clew.tools.resources import resources

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

REMEMBER = (
    "<div style='height:3000px'></div><script>document.cookie ||= 'user=ann; max-age=3600';"
    "localStorage.theme ??= 'dark'; sessionStorage.step ??= '3'</script>"
)


async def test_tabs_cookies_storage_and_scroll_position_come_back_in_another_browser(browsing, site):
    one, two = site.page(REMEMBER), site.page("two")
    await browsing("go_to_url", url=one)
    await browsing("scroll_down", scroll_amount=700)
    await browsing("open_tab", url=two)
    await browsing("switch_tab", tab_id=0)
    saved = json.loads(json.dumps(await (await browsing.session()).save()))
    assert [tab["url"] for tab in saved["tabs"]] == [one, two]

    await resources().close_owned(browsing.tool.lease)
    assert not browsing.tool.is_open(browsing.config)
    async with browsing.tool.lend(browsing.config, saved) as session:
        page = await session.page()
        assert page.url == one
        kept = "() => [document.cookie, localStorage.theme, sessionStorage.step, scrollY]"
        assert await page.evaluate(kept) == ["user=ann", "dark", "3", 700]
    await browsing("state")
    assert [tab["url"] for tab in browsing.artifact["state"]["tabs"]] == [one, two]


async def test_the_model_is_told_that_the_browser_was_started_again(browsing, site):
    await browsing("go_to_url", url=site.page("one"))
    saved = await (await browsing.session()).save()
    await resources().close_owned(browsing.tool.lease)
    async with browsing.tool.lend(browsing.config, saved):
        pass
    await browsing("state")
    assert "started again" in browsing.text
    await browsing("state")
    assert "started again" not in browsing.text


async def test_a_site_that_is_gone_does_not_keep_the_others_from_coming_back(browsing, site):
    url = site.page("still here")
    await browsing("go_to_url", url=url)
    saved = await (await browsing.session()).save()
    saved["tabs"].insert(0, {"url": "http://10.0.0.1/", "active": False, "scroll": [0, 0], "session_storage": {}})
    await resources().close_owned(browsing.tool.lease)
    async with browsing.tool.lend(browsing.config, saved):
        pass
    assert await browsing.look() == "still here"
