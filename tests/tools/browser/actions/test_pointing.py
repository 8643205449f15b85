from contextlib import suppress

import pytest

from clew.state.errors import ToolFailure
from clew.tools.browser.settings import BrowserSettings

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

SAY = "<p id=said></p><script>const say = (text) => { said.textContent += text + ';' }</script>"


async def said(browsing):
    return await browsing.evaluate("document.getElementById('said').textContent")


async def test_a_click_reaches_the_page(browsing, site):
    await browsing.open(site.page(f"{SAY}<button onclick='say(event.isTrusted)'>go</button>"))
    assert await browsing("click_element", index=0) == "clicked [0]"
    assert await said(browsing) == "true;"


async def test_a_click_reaches_elements_below_the_fold_in_frames_and_in_closed_shadow_roots(browsing, site):
    inner = site.page("<button onclick='parent.postMessage(`frame`, `*`)'>frame</button>", host="localhost")
    await browsing.open(
        site.page(
            f"{SAY}<div id=host></div><iframe src='{inner}'></iframe><div style='height:1100px'></div>"
            "<button onclick='say(`below`)'>below</button><script>onmessage = (event) => say(event.data);"
            "const root = host.attachShadow({mode: 'closed'}); root.innerHTML = '<button>shadow</button>';"
            "root.firstChild.onclick = () => say('shadow')</script>"
        )
    )
    page = await browsing.look()
    for word in ("shadow", "frame", "below"):
        index = next(n for n in range(3) if f"[{n}]<button" in page and word in line(page, n))
        await browsing("click_element", index=index)
    assert await said(browsing) == "shadow;frame;below;"


def line(page, index):
    return next(line for line in page.splitlines() if f"[{index}]<" in line)


async def test_a_click_reaches_canvas_svg_and_a_hidden_checkbox_through_its_label(browsing, site):
    await browsing.open(
        site.page(
            f"{SAY}<canvas id=c width=50 height=50 onclick='say(`canvas`)'></canvas>"
            "<svg width=50 height=50><rect width=50 height=50 onclick='say(`svg`)'/></svg>"
            "<label><input type=checkbox style='display:none' onchange='say(this.checked)'>tick</label>"
        )
    )
    for index in range(3):
        await browsing("click_element", index=index)
    assert await said(browsing) == "canvas;svg;true;"


async def test_a_click_takes_a_point_that_nothing_covers(browsing, site):
    cover = "<div style='position:absolute;left:20px;top:0;width:160px;height:200px;background:#fff'></div>"
    await browsing.open(
        site.page(
            "<button style='position:absolute;left:0;top:0;width:200px;height:200px' onclick='say(1)'>big</button>"
            f"{cover}"
            f"<div style='margin-top:300px'>{SAY}</div>"
        )
    )
    await browsing("click_element", index=0)
    assert await said(browsing) == "1;"


async def test_a_covered_element_is_a_failure_that_names_the_cover(browsing, site):
    await browsing.open(
        site.page("<button>below</button><div style='position:fixed;inset:0;background:#fff'>Accept cookies</div>")
    )
    with pytest.raises(ToolFailure, match=r"\[0\] is covered by <div> Accept cookies"):
        await browsing("click_element", index=0)


async def test_a_disabled_element_is_a_failure_at_once(browsing, site):
    await browsing.open(site.page("<button disabled>no</button>"))
    with pytest.raises(ToolFailure, match="disabled"):
        await browsing("click_element", index=0)


async def test_an_element_that_is_gone_is_a_failure_that_asks_for_a_fresh_state(browsing, site):
    await browsing.open(site.page("<button id=b>going</button>"))
    await browsing.evaluate("b.remove()")
    with pytest.raises(ToolFailure, match=r"\[0\] is gone, the page changed: take a fresh state"):
        await browsing("click_element", index=0)
    await browsing("go_to_url", url=site.page("<button>another</button>"))
    with pytest.raises(ToolFailure, match="gone"):
        await browsing("click_element", index=0)
    with pytest.raises(ToolFailure, match=r"no element \[7\]"):
        await browsing("click_element", index=7)


async def test_a_click_that_leads_away_ends_on_the_other_page(browsing, site):
    target = site.page("<button>there</button>")
    await browsing.open(site.page(f"<a href='{target}'>go</a>"))
    await browsing("click_element", index=0)
    assert browsing.artifact["url"] == target
    assert "there" in await browsing.look()


async def test_a_page_that_leaves_in_the_middle_of_an_action_is_no_crash(make_browsing, site):
    browsing = make_browsing(BrowserSettings(action_seconds=1))
    target = site.page("there")
    await browsing.open(
        site.page(
            f"<button onpointerdown='location = `{target}`; const end = Date.now() + 300; while (Date.now() < end);'>"
            "go</button>"
        )
    )
    with suppress(ToolFailure):
        await browsing("click_element", index=0)
    assert await browsing.look() == "there"


async def test_a_new_tab_that_a_click_opens_becomes_the_active_one(browsing, site):
    target = site.page("<p>popup</p>")
    await browsing.open(
        site.page(f"<a href='{target}' target=_blank>link</a><button onclick='window.open(`{target}`)'>pop up</button>")
    )
    for index in (0, 1):
        text = await browsing("click_element", index=index)
        assert "a tab opened" in text
        assert browsing.artifact["url"] == target
        await browsing("close_tab")
        await browsing.look()


async def test_dialogs_are_answered_and_told(browsing, site):
    await browsing.open(
        site.page(
            f"{SAY}<button onclick='alert(`hello`)'>a</button><button onclick='say(confirm(`sure?`))'>c</button>"
            "<button onclick='say(prompt(`name?`, `Ann`))'>p</button>"
        )
    )
    assert "alert 'hello', which was accepted" in await browsing("click_element", index=0)
    assert "confirm 'sure?', which was accepted" in await browsing("click_element", index=1)
    await browsing("click_element", index=2)
    assert await said(browsing) == "true;Ann;"
    assert [notice["kind"] for notice in browsing.artifact["notices"]] == ["dialog"]


async def test_dialogs_are_dismissed_where_the_settings_say_so(make_browsing, site):
    browsing = make_browsing(BrowserSettings(dialogs="dismiss"))
    await browsing.open(site.page(f"{SAY}<button onclick='say(confirm(`sure?`))'>c</button>"))
    assert "which was dismissed" in await browsing("click_element", index=0)
    assert await said(browsing) == "false;"


async def test_a_page_that_asks_before_it_is_left_is_left(browsing, site):
    await browsing.open(
        site.page("<button>x</button><script>onbeforeunload = (event) => event.preventDefault()</script>")
    )
    await browsing("click_element", index=0)
    assert await browsing.open(site.page("left")) == "left"


async def test_a_click_that_downloads_names_the_file_in_the_workspace(browsing, site):
    await browsing.open(site.page(f"<a href='{site.url('/file/data.csv?seconds=0.2')}'>csv</a>"))
    for name in ("downloads/data.csv", "downloads/data-1.csv"):
        assert f"downloaded {name} (8 bytes)" in await browsing("click_element", index=0)
        assert browsing.artifact["notices"][0]["path"] == name
        assert (browsing.workspace / name).stat().st_size == 8


async def test_a_download_cannot_leave_its_folder_by_its_name(browsing, site):
    await browsing.open(site.page(f"<a href='{site.url('/file/x?name=../../evil.sh')}'>x</a>"))
    await browsing("click_element", index=0)
    (file,) = [path for path in browsing.workspace.rglob("*") if path.is_file()]
    assert file.parent == browsing.workspace / "downloads"


async def test_a_list_is_not_clicked_but_chosen_from(browsing, site):
    await browsing.open(site.page("<select><option>a</select>"))
    with pytest.raises(ToolFailure, match="use select_dropdown_option"):
        await browsing("click_element", index=0)


async def test_hovering_opens_what_opens_on_hover(browsing, site):
    await browsing.open(
        site.page(
            "<style>nav a {display:none} nav:hover a {display:block}</style>"
            "<nav tabindex=0>menu<a href=/x>entry</a></nav>"
        )
    )
    await browsing("hover", index=0)
    assert '*[1]<a href="/x">entry' in await browsing.look()


async def test_clicking_at_a_point_clicks_there(browsing, site):
    await browsing.open(
        site.page(f"{SAY}<canvas style='position:fixed;left:100px;top:100px' onclick='say(event.offsetX)'></canvas>")
    )
    await browsing("click_at", x=130, y=120)
    assert await said(browsing) == "30;"
    with pytest.raises(ToolFailure, match="outside the viewport"):
        await browsing("click_at", x=5000, y=10)


async def test_dragging_moves_by_mouse_and_by_drag_events(browsing, site):
    await browsing.open(
        site.page(
            f"{SAY}<div draggable=true>item</div><div style='height:60px' tabindex=0 "
            "ondragover='event.preventDefault()' ondrop='say(`dropped`)'>target</div>"
            "<input type=range min=0 max=100 value=0 style='width:200px'>"
        )
    )
    await browsing("drag", index=0, to_index=1)
    assert await said(browsing) == "dropped;"
    box = await browsing.evaluate(
        "(() => { const b = document.querySelector('input').getBoundingClientRect();"
        " return [b.right - 9, b.y + b.height / 2] })()"
    )
    await browsing("drag", index=2, x=box[0], y=box[1])
    assert await browsing.evaluate("document.querySelector('input').valueAsNumber") > 90
    with pytest.raises(ToolFailure, match="needs `to_index`, or `x` and `y`"):
        await browsing("drag", index=0)
