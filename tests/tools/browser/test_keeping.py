import io
from hashlib import sha256

import pytest
from PIL import Image

from clew.state.errors import CheckpointError
from clew.tools.browser.settings import BrowserSettings
from clew.tools.resources import resources
from clew.tools.run_services import RunServices

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


class Payloads:
    """Payloads in memory, and the services of a run that keeps them there."""

    def __init__(self):
        self.kept = {}

    async def put(self, payload):
        reference = sha256(payload).hexdigest()
        self.kept[reference] = payload
        return reference

    async def get(self, reference):
        if reference not in self.kept:
            raise CheckpointError(f"no payload {reference}")
        return self.kept[reference]

    def config(self, saved=None):
        return {"configurable": {**RunServices(put=self.put, get=self.get, saved=saved).entry(), "thread_id": "t"}}


@pytest.fixture
def payloads():
    return Payloads()


async def test_a_picture_of_each_step_is_kept_in_the_workspace_and_equal_ones_once(make_browsing, site):
    browsing = make_browsing(BrowserSettings())
    await browsing("go_to_url", url=site.page("<h1>Hello</h1>"))
    first = browsing.artifact["screenshot"]
    await browsing("wait", seconds=0)
    assert browsing.artifact["screenshot"] == first
    picture = Image.open(io.BytesIO((browsing.workspace / first).read_bytes()))
    assert picture.size == (1280, 900)
    assert len(list((browsing.workspace / ".clew" / "screenshots").iterdir())) == 1


async def test_what_changes_seldom_is_a_payload_of_its_own(browsing, site, payloads):
    browsing.config = payloads.config()
    await browsing("go_to_url", url=site.page("<script>document.cookie = 'user=ann'</script>one"))
    first = browsing.artifact["saved"]
    await browsing("go_to_url", url=site.page("two"))
    second = browsing.artifact["saved"]
    assert first["storage"] == second["storage"]
    assert first["tabs"] != second["tabs"]
    assert b"ann" in payloads.kept[first["storage"]]
    await browsing("state")
    assert "saved" not in browsing.artifact


async def test_a_call_and_a_look_open_the_browser_from_what_was_saved(browsing, site, payloads):
    url = site.page("<h1>Here</h1>")
    browsing.config = payloads.config()
    await browsing("go_to_url", url=url)
    browsing.config = payloads.config(browsing.artifact["saved"])
    await resources().close_owned(browsing.tool.lease)
    assert "Here" in await browsing.look()
    await resources().close_owned(browsing.tool.lease)
    seen = await browsing.tool.observe(browsing.config, picture=True)
    assert "Here" in seen.text
    assert "started again" in seen.text
    assert Image.open(io.BytesIO(seen.image)).format == "JPEG"


async def test_there_is_nothing_to_look_at_before_the_first_page(browsing, payloads):
    assert await browsing.tool.observe(payloads.config(), picture=False) is None
    assert not browsing.tool.is_open(payloads.config())


async def test_payloads_that_are_gone_leave_a_browser_that_begins_anew_and_says_so(browsing, payloads):
    browsing.config = payloads.config({"tabs": "gone", "storage": "gone"})
    assert "(empty)" in await browsing("state")
    assert "its earlier pages are lost" in browsing.text
