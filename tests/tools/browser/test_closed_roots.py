"""Closed shadow roots that HTML declares: what is in them can be read, and acted on."""

import pytest

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


def declared(content):
    return f"<div><template shadowrootmode=closed>{content}</template></div>"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_declared_closed_root_is_read_and_acted_on_in_the_page_and_in_frames(browsing, site, host):
    one = declared("<p>outer</p>" + declared("<button onclick='document.title = event.isTrusted'>one</button>"))
    inner = declared("<input oninput='parent.postMessage(this.value, `*`)'>")
    frame = site.page(inner, host=host)
    heard = "<p id=heard></p><script>onmessage = (event) => { heard.textContent = event.data }</script>"
    page = await browsing.open(site.page(f"{heard}{one}<input value=plain><iframe src='{frame}'></iframe>"))
    assert "outer" in page
    await browsing("click_element", index=await browsing.index("<button", "one"))
    fields = [line.split("]")[0].strip(" *[") for line in page.splitlines() if "<input" in line]
    await browsing("input_text", index=int(fields[-1]), text="typed")
    page = await browsing.look()
    assert page.startswith("typed")
    assert 'value="typed"' in page
    assert browsing.artifact["state"]["title"] == "true"


async def test_a_root_that_a_script_declares_later_is_found_too(browsing, site):
    await browsing.open(site.page("<main></main>"))
    await browsing.evaluate(f"document.querySelector('main').setHTMLUnsafe(`{declared('<button>late</button>')}`)")
    await browsing("click_element", index=await browsing.index("late"))


async def test_the_text_of_a_declared_root_is_extracted_and_scrolled_to_without_a_state_before(browsing, site):
    far = "<div style='height:3000px'></div>"
    await browsing("go_to_url", url=site.page(far + declared("<p>wanted</p>")))
    assert "wanted" in await browsing("extract_content", goal="wanted")
    await browsing("go_to_url", url=site.page(far + declared("<p>wanted</p>")))
    await browsing("scroll_to_text", text="wanted")
    assert await browsing.evaluate("scrollY") > 1000
