"""The code of docs/events.md, executed."""

import ast
import inspect
import re

from langchain_core.messages import AIMessage
from source_tree import ROOT

from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel

PAGE = (ROOT / "docs/events.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


async def test_the_code_of_the_page_of_events_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_CONFIRM", "never")
    model = ScriptedModel(reply=lambda messages, tools: AIMessage("Mended."))
    names = {"agent": create_agent(AgentSpec(name="tester"), model=model)}
    for place, code in enumerate(CODE):
        if "create_agent(spec)" in code:
            code = code.replace("create_agent(spec)", "create_agent(spec, model=model)")
            names["model"] = model
        compiled = compile(code, f"docs/events.md, block {place}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(compiled, names)
        if inspect.isawaitable(result):
            await result
    said = capsys.readouterr().out
    assert "1 agent Mended." in said
    assert "hello\n[exit code 0]" in said


def test_the_page_names_every_event_and_condenser_that_there_is():
    from clew.state.condensation import MaskImages, MaskResults, Recent, Summarize
    from clew.state.events import ACTIONS, OBSERVATIONS

    for kind in (*ACTIONS, *OBSERVATIONS):
        assert f"`{kind.__name__}`" in PAGE
    for condenser in (Recent, MaskResults, MaskImages, Summarize):
        assert f"| `{condenser().kind}` |" in PAGE
