"""What importing `clew.graphs` loads: larger programs pay for it."""

import subprocess
import sys


def loaded_by(script: str) -> list[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_graphs_loads_little_more_than_langgraph_itself():
    loaded = loaded_by(
        "import sys, langgraph.graph; before = set(sys.modules); import clew.graphs; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    assert set(loaded) <= {"clew", "langchain_core", "pydantic", "sqlite3", "_sqlite3"}


def test_importing_the_graphs_leaves_the_schemas_of_settings_and_plan_changes_for_later():
    complete = loaded_by(
        "import clew.graphs; from clew.state.settings import Settings; from clew.state.plan_operation import AddStep; "
        "print(*(model.__name__ for model in (*Settings.__mro__[:2], AddStep) if model.__pydantic_complete__))"
    )
    assert complete == []
