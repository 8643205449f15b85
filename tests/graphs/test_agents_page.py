"""The page of the agents lists them as they are, and its code runs."""

import os
import re

import pytest
from source_tree import ROOT

from clew.graphs import AGENTS
from clew.graphs.hub import DESCRIPTION, HUB_AGENTS

PAGE = ROOT / "docs" / "agents.md"


def names(always, installed):
    return ", ".join([*(f"`{name}`" for name in always), *(f"[`{name}`]" for name in installed)]) or "none"


def table():
    """The table of `docs/agents.md`, as the specs have it."""
    rows = ["| agent | what for | tools | delegates to | steps |", "|---|---|---|---|---|"]
    for name, spec in AGENTS.items():
        tools = names(spec.tools, spec.optional_tools)
        delegates = names(spec.delegates, spec.optional_delegates)
        rows.append(f"| `{name}` | {spec.description} | {tools} | {delegates} | {spec.max_steps} |")
    rows.append(f"| `hub` | {DESCRIPTION} | theirs | {names(HUB_AGENTS.values(), [])} | theirs |")
    return "\n".join(rows)


def test_the_page_has_every_agent_with_its_tools_and_delegates():
    """Set UPDATE_GOLDEN=1 to write the table anew."""
    before, start, rest = PAGE.read_text(encoding="utf-8").partition("<!-- agents -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(f"{before}{start}{table()}\n{end}{after}", encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == f"{before}{start}{table()}\n{end}{after}"


def test_the_code_of_the_page_makes_an_agent_with_a_delegate():
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    made = {}
    exec(compile(code, str(PAGE), "exec"), made)
    assert "delegate_reader" in made["graph"].nodes


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", PAGE.read_text(encoding="utf-8")))
def test_every_link_of_the_page_leads_to_a_file(link):
    assert link.startswith("https://") or (PAGE.parent / link).is_file()
