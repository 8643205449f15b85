import pytest
from pydantic import SecretStr

from clew.state.errors import ToolFailure
from clew.tools.browser.credentials import Credential

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


async def values(browsing):
    return await browsing.evaluate("[...document.querySelectorAll('input,textarea')].map((each) => each.value)")


async def test_text_replaces_what_a_field_holds(browsing, site):
    await browsing.open(site.page("<input value=old><textarea>old</textarea><input type=number value=3>"))
    await browsing("input_text", index=0, text="new text")
    await browsing("input_text", index=1, text="two\nlines")
    await browsing("input_text", index=2, text="42")
    assert await values(browsing) == ["new text", "two\nlines", "42"]


async def test_date_time_range_and_colour_fields_are_set(browsing, site):
    fields = {"date": "2026-11-20", "time": "13:45", "datetime-local": "2026-11-20T13:45", "month": "2026-11"}
    fields |= {"week": "2026-W47", "range": "70", "color": "#00ff7f"}
    await browsing.open(site.page("".join(f"<input type={kind}>" for kind in fields)))
    for index, value in enumerate(fields.values()):
        await browsing("input_text", index=index, text=value)
    assert await values(browsing) == list(fields.values())
    with pytest.raises(ToolFailure, match="dates are YYYY-MM-DD"):
        await browsing("input_text", index=0, text="tomorrow")


async def test_editable_text_is_replaced(browsing, site):
    await browsing.open(site.page("<div contenteditable>old <b>text</b></div>"))
    await browsing("input_text", index=0, text="fresh")
    assert await browsing.evaluate("document.querySelector('div').innerText") == "fresh"


async def test_fields_see_a_key_event_for_each_letter(browsing, site):
    await browsing.open(site.page("<input onkeydown='window.keys = (window.keys ?? ``) + event.key'>"))
    await browsing("input_text", index=0, text="abc")
    assert await browsing.evaluate("keys") == "abc"


async def test_a_field_that_changes_its_text_is_told(browsing, site):
    await browsing.open(site.page("<input maxlength=3>"))
    assert await browsing("input_text", index=0, text="abcdef") == "put the text into [0], which holds 'abc' now"


async def test_text_goes_into_frames_and_closed_shadow_roots(browsing, site):
    inner = site.page("<input oninput='document.title = this.value'>", host="localhost")
    await browsing.open(
        site.page(
            f"<iframe src='{inner}'></iframe><div id=h></div><script>const root = h.attachShadow({{mode: 'closed'}});"
            "root.innerHTML = '<input>'; root.firstChild.oninput = (e) => { document.title = e.target.value }</script>"
        )
    )
    await browsing("input_text", index=0, text="framed")
    await browsing("input_text", index=1, text="shadowed")
    page = await browsing.look()
    assert 'value="framed"' in page
    assert browsing.artifact["state"]["title"] == "shadowed"


async def test_a_control_that_takes_no_text_is_a_failure_that_says_what_to_use(browsing, site):
    controls = {
        "<input type=checkbox>": "use click_element",
        "<input type=file>": "use upload_file",
        "<select><option>a</select>": "use select_dropdown_option",
        "<input disabled>": "disabled",
        "<input readonly>": "read-only",
        "<a href=x>link</a>": "takes no text",
    }
    await browsing.open(site.page("".join(controls)))
    for index, advice in enumerate(controls.values()):
        with pytest.raises(ToolFailure, match=advice):
            await browsing("input_text", index=index, text="x")


async def test_keys_are_pressed_one_after_the_other_and_other_text_is_typed(browsing, site):
    await browsing.open(
        site.page("<form onsubmit='document.title = v.value; return false'><input id=v autofocus></form>")
    )
    await browsing("click_element", index=0)
    await browsing("send_keys", keys="hello you")
    assert await values(browsing) == ["hello you"]
    await browsing("send_keys", keys="ctrl+a Delete x y Return")
    assert await browsing.evaluate("document.title") == "xy"


async def test_a_secret_is_typed_but_never_told(make_browsing, site):
    secret = Credential(value=SecretStr("s3cr3t-value"), domains=("127.0.0.1",))
    browsing = make_browsing(credentials={"shop": secret})
    await browsing.open(site.page("<input>"))
    text = await browsing("input_text", index=0, text="key <secret>shop</secret>")
    assert await values(browsing) == ["key s3cr3t-value"]
    page = await browsing.look()
    assert "s3cr3t" not in text + page + browsing.text + str(browsing.artifact)
    assert "<secret>shop</secret>" in browsing.text
    # A picture of the page shows dots.
    assert await browsing.evaluate("getComputedStyle(document.querySelector('input')).webkitTextSecurity") == "disc"


async def test_a_secret_is_not_typed_on_another_site(make_browsing, site):
    secret = Credential(value=SecretStr("s3cr3t-value"), domains=("127.0.0.1",))
    browsing = make_browsing(credentials={"shop": secret})
    await browsing.open(site.page("<input>", host="localhost"))
    with pytest.raises(ToolFailure, match="not for localhost"):
        await browsing("input_text", index=0, text="<secret>shop</secret>")
    with pytest.raises(ToolFailure, match="no secret 'bank'"):
        await browsing("input_text", index=0, text="<secret>bank</secret>")
    assert await values(browsing) == [""]
