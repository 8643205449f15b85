import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from clew.state.sandbox import SandboxOptions
from clew.state.tools import ToolSettings
from clew.tools.catalog import open_tools

CALLS = [
    ("bash", {"command": "seq 1 100000"}),
    ("bash", {"command": "sleep 10", "timeout": 0.2}),
    ("bash", {"command": "read x", "interactive": True, "timeout": 0.2}),
    ("python_execute", {"code": "open('x', 'w').write('x')"}),
    ("file_search", {"pattern": "x"}),
    ("str_replace_editor", {"command": "create", "path": "a", "file_text": "b"}),
    ("str_replace_editor", {"command": "view", "path": "."}),
]


@pytest.fixture
def blockbuster():
    with blockbuster_ctx() as blockbuster:
        yield blockbuster


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_no_tool_blocks_the_event_loop(name, arguments, tmp_path, backend, blockbuster: BlockBuster):
    """`langgraph dev` refuses to run what does, by the same means."""
    settings = ToolSettings(sandbox=SandboxOptions(backend=backend))
    async with open_tools([name], workspace=tmp_path, settings=settings) as [tool]:
        assert await tool.ainvoke(arguments, {"configurable": {"thread_id": "t"}})
