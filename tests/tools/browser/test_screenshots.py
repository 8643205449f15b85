import pytest

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


async def test_a_screenshot_is_a_jpeg_of_the_viewport(browsing, site):
    await browsing.open(site.page("<div style='height:4000px;background:#08f'></div>"))
    picture = await (await browsing.session()).screenshot()
    assert picture.startswith(b"\xff\xd8\xff")
    assert size(picture) == (1280, 900)


async def test_indices_are_drawn_on_request_and_leave_no_trace(browsing, site):
    page = await browsing.open(site.page("<button>one</button><iframe srcdoc='<button>two</button>'></iframe>"))
    session = await browsing.session()
    plain, labelled = await session.screenshot(), await session.screenshot(labels=True)
    assert labelled != plain
    assert await session.screenshot() == plain
    assert await browsing.look() == page


def size(jpeg):
    """Width and height in the frame header, ISO 10918-1, B.2.2."""
    place = 2
    while jpeg[place + 1] not in (0xC0, 0xC1, 0xC2):
        place += 2 + int.from_bytes(jpeg[place + 2 : place + 4], "big")
    return int.from_bytes(jpeg[place + 7 : place + 9], "big"), int.from_bytes(jpeg[place + 5 : place + 7], "big")
