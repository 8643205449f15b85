import pytest

from clew.state.errors import ToolFailure

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


async def test_the_page_scrolls_by_pixels_or_by_its_height(browsing, site):
    await browsing.open(site.page("<div style='height:5000px'>tall</div>"))
    assert await browsing("scroll_down", scroll_amount=250) == "scrolled down by 250 px"
    assert await browsing("scroll_down") == "scrolled down by 900 px"
    assert await browsing("scroll_up", scroll_amount=50) == "scrolled up by 50 px"
    assert await browsing.evaluate("scrollY") == 1100
    await browsing("scroll_up", scroll_amount=9999)
    assert await browsing("scroll_up") == "nothing moved: this is the top"


async def test_where_the_page_does_not_scroll_the_box_in_its_middle_does(browsing, site):
    await browsing.open(
        site.page(
            "<div style='position:fixed;inset:0;display:flex'><aside style='width:200px;overflow:auto'>"
            "<button>side</button><div style='height:3000px'></div></aside>"
            "<main style='flex:1;overflow:auto'><div style='height:3000px'>main</div></main></div>"
        )
    )
    assert await browsing("scroll_down", scroll_amount=300) == "scrolled down by 300 px"
    assert await browsing("scroll_down", scroll_amount=200, index=0) == "scrolled down by 200 px"
    tops = "[...document.querySelectorAll('main, aside')].map((each) => each.scrollTop)"
    assert await browsing.evaluate(tops) == [200, 300]


async def test_a_text_is_brought_into_view_wherever_it_is(browsing, site):
    inner = site.page("<div style='height:2000px'></div><p>in the frame</p>", host="localhost")
    await browsing.open(
        site.page(
            "<div style='height:3000px'></div><p>The <b>Answer</b> is here</p><div id=h></div>"
            f"<iframe src='{inner}'></iframe><script>"
            "h.attachShadow({mode: 'closed'}).innerHTML = '<p>in the shadow</p>'</script>"
        )
    )
    await browsing("scroll_to_text", text="the answer  is")
    assert "Answer" in await browsing.look()
    assert "offscreen" not in browsing.text
    await browsing("scroll_to_text", text="in the shadow")
    await browsing("scroll_to_text", text="in the frame")
    assert "in the frame" in await browsing.look()
    with pytest.raises(ToolFailure, match="does not say 'nowhere'"):
        await browsing("scroll_to_text", text="nowhere")


async def test_what_loads_on_scrolling_is_in_the_next_state(browsing, site):
    await browsing.open(
        site.page(
            "<div style='height:2000px'></div><div id=end></div><script>onscroll = () => { onscroll = null;"
            f"fetch('{site.url('/slow?seconds=0.1&body=more')}').then((r) => r.text()).then((t) => "
            "{ end.innerHTML = `<button>${t}</button>` }) }</script>"
        )
    )
    await browsing("scroll_down", scroll_amount=3000)
    assert "<button>more" in await browsing.look()
