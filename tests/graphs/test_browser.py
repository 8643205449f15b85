"""The browser agent on pages of a loopback site, with real Chromium and a scripted model."""

import json
import os
from pathlib import Path

import pytest
from browser_pages import Site
from langchain_core.messages import AIMessage
from langgraph.types import Command

from clew.checkpoints.open import open_saver
from clew.graphs import create_agent
from clew.models.scripted import ScriptedModel
from clew.state.browser import BrowserSettings
from clew.state.context import RunContext
from clew.state.secrets import secret_settings
from clew.state.settings import Settings
from clew.tools.resources import resources

pytestmark = pytest.mark.needs("chromium")

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "Sign in.")]}
FORM = (
    "<h1>Welcome</h1><label>Name <input name=user></label><button onclick=\"this.textContent='Done'\">Sign in</button>"
)
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


def call(name, content="", **args):
    return {"content": content, "tool_calls": [{"name": name, "args": args}]}


def use(action, content="", **args):
    return call("browser_use", content, action=action, **args)


END = call("terminate", status="success", answer="Signed in.")


class Run:
    """A run of an agent with a real browser, and what its model was sent."""

    def __init__(self, folder, agent="browser"):
        self.folder, self.agent, self.requests = folder, agent, []
        self.settings = Settings(home=folder / "home", network={"allowed_hosts": ["127.0.0.1"]})

    def graph(self, *replies, saver=None, vision=True):
        replies = list(replies)

        def reply(messages, tools):
            self.requests.append(messages)
            return replies.pop(0)

        model = ScriptedModel(reply=reply, profile={"image_inputs": vision})
        return self.graph_of(model, saver)

    def graph_of(self, model, saver=None):
        workspace = self.folder / "workspace"
        return create_agent(self.agent, model=model, checkpointer=saver, settings=self.settings, workspace=workspace)

    def page(self, request):
        """What the model was shown of the browser, right before the next-step prompt."""
        return self.requests[request][-2]


@pytest.fixture
async def run(tmp_path):
    run = Run(tmp_path)
    yield run
    await resources().close_all()


async def test_the_live_page_is_in_each_request_and_never_in_the_history(run, site):
    url = site.page(FORM)
    async with open_saver(run.folder / "clew.db") as saver:
        graph = run.graph(use("go_to_url", url=url), use("click_element", index=1), END, saver=saver)
        state = await graph.ainvoke(TASK, THREAD)
    assert state["status"] == "finished"
    assert "not open yet" in run.page(0).text
    assert "Welcome" in run.page(1).text
    assert "[1]<button>Sign in" in run.page(1).text
    assert "[1]<button focused>Done" in run.page(2).text
    assert not any("Welcome" in message.text for message in state["messages"])
    assert [message.type for message in state["messages"]] == ["human", *["ai", "tool"] * 3]
    assert all("untrusted" in run.page(number).text for number in (1, 2))


async def test_a_model_that_sees_gets_the_newest_picture_alone_from_the_blobs_and_another_gets_none(run, site):
    url = site.page(FORM)
    async with open_saver(run.folder / "clew.db") as saver:
        graph = run.graph(use("go_to_url", url=url), use("state"), END, saver=saver)
        await graph.ainvoke(TASK, THREAD)
        pictures = [block for message in run.requests[-1] for block in message.content if "base64" in block]
        assert [block["mime_type"] for block in pictures] == ["image/jpeg"]
        async for item in saver.alist(THREAD):
            assert pictures[0]["base64"][:100] not in str(item)
        run.requests.clear()
        blind = run.graph(use("go_to_url", url=url), END, saver=saver, vision=False)
        await blind.ainvoke(TASK, {"configurable": {"thread_id": "blind"}})
    assert isinstance(run.page(1).content, str)


async def test_a_general_agent_sees_the_page_while_its_newest_steps_used_the_browser(run, site):
    run.agent = "manus"
    look = [call("str_replace_editor", command="view", path=".")] * 3
    graph = run.graph(look[0], use("go_to_url", url=site.page(FORM)), *look, "Done.")
    await graph.ainvoke(TASK)
    shown = ["Welcome" in "".join(message.text for message in request) for request in run.requests]
    assert shown == [False, False, True, True, True, False]


async def test_what_a_page_asks_is_answered_by_the_runs_model_and_counted(run, site):
    url = site.page("".join(f"<p>Fact {number}: {'word ' * 60}</p>" for number in range(10)))
    run.settings = run.settings.model_copy(update={"browser": BrowserSettings(max_content_length=1500)})
    asked = []

    def reply(messages, tools):
        if "You read a web page" in messages[0].text:
            asked.append(messages[1].text)
            return AIMessage("seen", usage_metadata={"input_tokens": 100, "output_tokens": 1, "total_tokens": 101})
        return [use("go_to_url", url=url), use("extract_content", goal="the facts"), END][
            sum(message.type == "ai" for message in messages)
        ]

    graph = run.graph()
    graph = run.graph_of(ScriptedModel(reply=reply))
    state = await graph.ainvoke(TASK)
    assert len(asked) == 4
    assert ["part 1 of 3" in asked[0], "Fact 0" in asked[0], "Put together" in asked[-1]] == [True] * 3
    assert state["messages"][4].text == "seen"
    assert state["progress"]["usage"]["llm_calls"] == 3 + 4
    assert state["progress"]["usage"]["input_tokens"] >= 400


async def test_the_browser_comes_back_in_another_process_and_the_model_is_told(run, site):
    url, other = site.page("<script>document.cookie ||= 'user=ann'</script><h1>One</h1>"), site.page("<h1>Two</h1>")
    async with open_saver(run.folder / "clew.db") as saver:
        graph = run.graph(
            use("go_to_url", url=url),
            use("open_tab", url=other),
            call("ask_human", inquire="On?"),
            saver=saver,
        )
        state = await graph.ainvoke(TASK, THREAD)
        assert state["__interrupt__"]
        # Another process has none of this one's resources.
        await resources().close_all()
        run.requests.clear()
        graph = run.graph(use("switch_tab", tab_id=0), END, saver=saver)
        await graph.ainvoke(Command(resume="Yes."), THREAD)
    assert "started again" in run.page(0).text
    assert f"0: {url}" in run.page(0).text
    assert f"1: {other} (active)" in run.page(0).text
    assert "started again" not in run.page(1).text
    assert "One" in run.page(1).text


async def test_cookies_stand_in_the_blobs_alone(run, site):
    secret = "crumbs-of-a-session-1234567890"
    url = site.page(
        f"<script>document.cookie = 'session={secret}'; localStorage.kept = '{secret}'</script><h1>One</h1>"
    )
    async with open_saver(run.folder / "clew.db") as saver:
        await run.graph(use("go_to_url", url=url), use("wait", seconds=0), END, saver=saver).ainvoke(TASK, THREAD)
        payloads = [await saver.blobs.get(reference) for reference in await saver.blobs.references("t")]
    assert sum(secret.encode() in payload for payload in payloads) == 1
    files = {path.name: path.read_bytes() for path in run.folder.glob("clew.db*")}
    assert [name for name, content in files.items() if secret.encode() in content and "blob" not in name] == []
    assert not any(secret in str(request) for request in run.requests)


async def results_of(run, *replies):
    state = await run.graph(*replies, END).ainvoke(TASK)
    return [message.text for message in state["messages"] if message.type == "tool"][:-1]


async def test_the_settings_bound_where_the_browser_goes(run, site):
    url = site.page(f"<img src='{site.url('/denied-picture', host='localhost')}'>here")
    run.settings = Settings(home=run.folder, browser={"screenshots": False})
    (refused,) = await results_of(run, use("go_to_url", url=url))
    assert "private network" in refused
    hosts = {"allowed_hosts": ["127.0.0.1", "localhost"]}
    rules = {"denied_domains": ["localhost"], "allowed_domains": ["127.0.0.1", "localhost"]}
    run.settings = Settings(home=run.folder, network=hosts, browser=rules)
    opened, denied, outside = await results_of(
        run,
        use("go_to_url", url=url),
        use("go_to_url", url=site.url("/x", host="localhost")),
        use("go_to_url", url="http://192.0.2.1/"),
    )
    assert opened.startswith("opened")
    assert "denied" in denied
    assert "allowed domains" in outside
    assert "/denied-picture" not in site.visits


async def test_a_secret_of_the_settings_is_typed_and_stands_nowhere_else(run, site):
    value = "tulips-in-november"
    secret = {"value": value, "domains": ["127.0.0.1"]}
    run.settings = run.settings.model_copy(update={"browser": BrowserSettings(credentials={"shop": secret})})
    url = site.page("<form method=post action=/sent><input name=word><button>Go</button></form>")
    async with open_saver(run.folder / "clew.db", secrets=secret_settings(run.settings)) as saver:
        replies = use("input_text", index=0, text="<secret>shop</secret>"), use("click_element", index=1)
        graph = run.graph(use("go_to_url", url=url), *replies, END, saver=saver)
        await graph.ainvoke(TASK, THREAD)
    assert site.received[-1] == f"word={value}".encode()
    assert "<secret>shop</secret>" in run.page(3).text
    assert value not in str(run.requests)
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if value.encode() in path.read_bytes()] == []


async def test_the_same_click_on_a_page_that_moves_on_is_no_loop(run, site):
    more = site.page("<button onclick=\"this.before(...Array(9).fill('more '))\">More</button>")
    still = site.page("<button>Nothing</button>")
    clicks = [use("click_element", index=0)] * 6
    state = await run.graph(use("go_to_url", url=more), *clicks, END).ainvoke(TASK)
    assert state["progress"]["nudge"] == ""
    state = await run.graph(use("go_to_url", url=still), *clicks, END).ainvoke(TASK)
    assert "the same call gave the same result" in state["progress"]["nudge"]


async def test_the_request_is_the_golden_one(run, site):
    url = site.page(FORM, title="Sign in")
    graph = run.graph(
        use("go_to_url", "Evaluation: nothing yet.\nMemory: none.\nNext goal: open the page.", url=url), END
    )
    await graph.ainvoke(TASK, context=RunContext(workspace=str(run.folder)))
    request = [{"role": message.type, "content": message.text} for message in run.requests[1]]
    sent = (
        json.dumps(request, indent=2, ensure_ascii=False)
        .replace(url, "http://site/")
        .replace(str(run.folder), "/workspace")
    )
    golden = GOLDEN / "browser_page.json"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(sent + "\n", encoding="utf-8")
    assert sent + "\n" == golden.read_text(encoding="utf-8")
