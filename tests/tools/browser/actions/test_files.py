import pytest

from clew.state.errors import ToolFailure

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

FORM = (
    "<form method=post enctype=multipart/form-data action='/received'><input type=file name=f id=f {style}>"
    "<button type=button onclick='f.click()'>Choose</button><input type=submit></form>"
)


@pytest.fixture
def letter(browsing):
    browsing.workspace.mkdir(parents=True, exist_ok=True)
    (browsing.workspace / "letter.txt").write_text("Dear Ann")


@pytest.mark.usefixtures("letter")
async def test_a_file_of_the_workspace_is_uploaded_by_its_field(browsing, site):
    await browsing.open(site.page(FORM.format(style="")))
    assert await browsing("upload_file", index=0, path="letter.txt") == "gave letter.txt to [0]"
    assert 'files="letter.txt"' in await browsing.look()
    await browsing("click_element", index=2)
    assert "Dear Ann" in await browsing.look()


@pytest.mark.usefixtures("letter")
async def test_a_file_is_uploaded_by_the_button_that_asks_for_it(browsing, site):
    await browsing.open(site.page(FORM.format(style="style='display:none'")))
    await browsing("upload_file", index=0, path="letter.txt")
    assert await browsing.evaluate("f.files[0].name") == "letter.txt"


@pytest.mark.usefixtures("letter")
async def test_a_file_chooser_that_a_click_opens_is_told_and_answered(browsing, site):
    await browsing.open(site.page(FORM.format(style="style='display:none'")))
    assert "use upload_file" in await browsing("click_element", index=0)
    await browsing("upload_file", index=0, path="letter.txt")
    assert await browsing.evaluate("f.files[0].name") == "letter.txt"


async def test_only_files_of_the_workspace_can_be_uploaded(browsing, site):
    await browsing.open(site.page(FORM.format(style="")))
    with pytest.raises(ToolFailure, match="outside the workspace"):
        await browsing("upload_file", index=0, path="/etc/passwd")
    with pytest.raises(ToolFailure, match=r"no file missing\.txt"):
        await browsing("upload_file", index=0, path="missing.txt")
