"""The servers that everybody uses, over the transports that they have."""

import asyncio

import pytest
from mcp_maze import Remote, free_port

pytestmark = [pytest.mark.needs("node"), pytest.mark.needs("npm")]

EVERYTHING = "@modelcontextprotocol/server-everything"


@pytest.fixture(params=["stdio", "sse", "http"])
async def everything(request, server):
    """The server with every feature, over each transport."""
    command = server(EVERYTHING)
    if request.param == "stdio":
        yield {"command": command[0], "args": [*command[1:], "stdio"]}
        return
    port = free_port()
    mode, path = ("sse", "sse") if request.param == "sse" else ("streamableHttp", "mcp")
    remote = Remote([*command, mode], port, {"PORT": str(port)})
    await remote.start()
    yield {"type": request.param, "url": f"http://127.0.0.1:{port}/{path}"}
    remote.kill()


async def test_everything_that_a_server_can_answer_reaches_the_model(everything, open_tools):
    tools = open_tools(every=everything)
    names = await tools.names()
    assert "every__echo" in names
    assert {"mcp_list_resources", "mcp_read_resource", "mcp_list_prompts", "mcp_get_prompt"} <= set(names)
    assert (await tools.call("every__echo", message="hi")).content == "Echo: hi"
    picture = await tools.call("every__get-tiny-image")
    assert [block["type"] for block in picture.content] == ["text", "image"]
    structured = await tools.call("every__get-structured-content", location="New York")
    assert set(structured.artifact["structured_content"]) == {"temperature", "conditions", "humidity"}
    blob = await tools.call("every__get-resource-reference", resourceType="Blob", resourceId=1)
    assert ".clew/mcp/" in blob.content
    listed = (await tools.call("mcp_list_resources", server="every")).content
    assert "demo://resource/static/document/features.md" in listed
    read = await tools.call("mcp_read_resource", server="every", uri="demo://resource/dynamic/text/1")
    assert "Resource 1" in read.content
    assert "args-prompt(city, state (optional))" in (await tools.call("mcp_list_prompts", server="every")).content
    prompt = await tools.call("mcp_get_prompt", server="every", name="args-prompt", arguments={"city": "Knossos"})
    assert "Knossos" in prompt.content


async def test_files_memory_time_and_git_work_together_without_a_name_twice(server, open_tools, tmp_path):
    files, memory = server("@modelcontextprotocol/server-filesystem"), server("@modelcontextprotocol/server-memory")
    clock, git = server("mcp-server-time"), server("mcp-server-git")
    data, repository = tmp_path / "data", tmp_path / "repository"
    data.mkdir()
    made = await asyncio.create_subprocess_exec("git", "init", "-q", str(repository))
    assert await made.wait() == 0
    (data / "thread.txt").write_text("a clew")
    tools = open_tools(
        files={"command": files[0], "args": [*files[1:], str(data)]},
        memory={"command": memory[0], "args": memory[1:], "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}},
        time={"command": clock[0]},
        git={"command": git[0], "args": ["--repository", str(repository)]},
    )
    names = await tools.names()
    assert len(names) == len(set(names)) > 25
    assert (await tools.call("files__read_text_file", path=str(data / "thread.txt"))).content == "a clew"
    entity = {"name": "Ariadne", "entityType": "person", "observations": ["has a thread"]}
    await tools.call("memory__create_entities", entities=[entity])
    assert "has a thread" in (await tools.call("memory__search_nodes", query="Ariadne")).content
    assert "Athens" in (await tools.call("time__get_current_time", timezone="Europe/Athens")).content
    assert "branch" in (await tools.call("git__git_status", repo_path=str(repository))).content
