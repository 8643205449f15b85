import pytest

from clew.state.errors import ToolFailure

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

COLOURS = "<option value=r>Red</option><option value=g selected>Green</option><option disabled>Blue</option>"


async def test_the_options_of_a_list_are_told(browsing, site):
    await browsing.open(site.page(f"<select>{COLOURS}</select>"))
    text = await browsing("get_dropdown_options", index=0)
    assert text.splitlines() == ["options of [0]:", "0: Red", "1: Green (selected)", "2: Blue (disabled)"]


async def test_an_option_is_chosen_by_what_it_says_or_by_its_value(browsing, site):
    await browsing.open(site.page(f"<select onchange='document.title = this.value'>{COLOURS}</select>"))
    for text in ("Red", "red", "r", " RED "):
        await browsing("select_dropdown_option", index=0, text="Green")
        assert await browsing("select_dropdown_option", index=0, text=text) == "chose 'Red' in [0]"
        assert await browsing.evaluate("document.title") == "r"


async def test_a_wrong_or_disabled_option_is_a_failure_that_says_what_there_is(browsing, site):
    await browsing.open(site.page(f"<select>{COLOURS}</select><button>b</button>"))
    with pytest.raises(ToolFailure, match="it offers Red, Green, Blue"):
        await browsing("select_dropdown_option", index=0, text="Pink")
    with pytest.raises(ToolFailure, match="disabled"):
        await browsing("select_dropdown_option", index=0, text="Blue")
    with pytest.raises(ToolFailure, match="no list of options"):
        await browsing("get_dropdown_options", index=1)


async def test_a_list_of_several_keeps_what_was_chosen(browsing, site):
    await browsing.open(site.page(f"<select multiple>{COLOURS}</select>"))
    await browsing("select_dropdown_option", index=0, text="Red")
    assert 'value="Red, Green"' in await browsing.look()


async def test_suggestions_and_lists_made_of_other_elements_are_chosen_from(browsing, site):
    await browsing.open(
        site.page(
            "<input list=l><datalist id=l><option value=Bern><option value=Basel></datalist>"
            "<button role=combobox aria-controls=m>pick</button><ul id=m role=listbox>"
            "<li role=option onclick='document.title = this.textContent'>Tea</li><li role=option>Coffee</li></ul>"
        )
    )
    assert "1: Basel" in await browsing("get_dropdown_options", index=0)
    await browsing("select_dropdown_option", index=0, text="Basel")
    assert await browsing.evaluate("document.querySelector('input').value") == "Basel"
    await browsing("select_dropdown_option", index=1, text="tea")
    assert await browsing.evaluate("document.title") == "Tea"
