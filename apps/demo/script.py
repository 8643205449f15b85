"""What the scripted model of the demo says.

Loaded by `script:FILE`, so it stands alone: standard library only. A model would write the programs itself; here they
are read from `programs/`. Whatever it reports it takes from what the tools returned.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"

INVENTORY = "List the installed packages"
DEPENDENCIES = "Analyse dependencies and licences"
DISK_USE = "Analyse the disk use"
REPORT = "Write the report"

PLAN: list[dict[str, Any]] = [
    {"text": INVENTORY, "depends_on": []},
    {"text": DEPENDENCIES, "depends_on": [0]},
    {"text": DISK_USE, "depends_on": [0]},
    {"text": REPORT, "depends_on": [1, 2], "agent": "data_analysis"},
]

Call = tuple[str, str, dict[str, Any]]


def reply(messages: list[Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Play the planner, the agent of each step, and whoever sums up."""
    text = "\n".join(message.text for message in messages if message.type in ("system", "human"))
    steps = re.findall(r"^Current step: (.+)$", text, re.MULTILINE)
    if steps:
        calls = calls_of(steps[-1], {tool["function"]["name"] for tool in tools})
        return work(steps[-1], calls, [message for message in messages if message.type == "tool"])
    if tools:
        create = {"command": "create", "title": "What this Python environment holds", "steps": PLAN}
        return said("Two analyses need the inventory, and not each other; the report needs both.", "planning", create)
    return {"content": summary(text)}


def work(step: str, calls: list[Call], results: list[Any]) -> dict[str, Any]:
    """The next move of a step's agent: its calls one after the other, a failed one again, then the end."""
    done = [result.text for result in results if result.status != "error"]
    if done and not ended_well(done[-1]):
        return said("The tool reports a failure.", "terminate", {"status": "failure", "answer": done[-1]})
    if len(done) == len(calls):
        return said("", "terminate", {"status": "success", "answer": answer(calls, done)})
    thought, tool, arguments = calls[len(done)]
    if results and results[-1].status == "error":
        thought = "That call was cut off and has no result. It only reads and writes its own file: I make it again."
    return {**said(thought, tool, arguments), "delay": 1.5 if step == DISK_USE else 0.3}


def answer(calls: list[Call], done: list[str]) -> str:
    """What the step's program printed."""
    printed = [text for (_, tool, _), text in zip(calls, done, strict=True) if tool == "python_execute"]
    return output(printed[-1])


def calls_of(step: str, tools: set[str]) -> list[Call]:
    """What the agent of a step does; it draws charts if it has the tools for them."""
    if step == INVENTORY:
        look = {"command": "wc -c inventory.json && head -c 150 inventory.json | tr -d '\\n'"}
        return [program("I ask the packages themselves.", "inventory"), ("I look at the file.", "bash", look)]
    if step == DEPENDENCIES:
        return [program("I turn the requirements of the inventory around.", "dependencies")]
    if step == DISK_USE:
        return [program("I look at every file.", "disk_use")]
    charts = CHARTS if "data_visualization" in tools else []
    return [*charts, program("I put everything together on one page.", "report")]


CHARTS: list[Call] = [
    (
        "I choose a chart for the sizes.",
        "visualization_preparation",
        {
            "data_path": "sizes.csv",
            "question": "Which packages take most of the disk?",
            "chart_title": "Disk use by package, in megabytes",
            "x": "package",
            "y": "megabytes",
        },
    ),
    ("I draw it, with what the numbers say.", "data_visualization", {"output_type": "html", "tool_type": "insight"}),
]
"""Calls that draw the chart of the report."""


def program(thought: str, name: str) -> Call:
    """A call that runs one of the programs."""
    return thought, "python_execute", {"code": (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")}


def said(thought: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"content": thought, "tool_calls": [{"name": tool, "args": arguments}]}


def ended_well(text: str) -> bool:
    """Whether the command or program of an observation ended with 0."""
    codes = re.findall(r"\[exit code (\d+)\]", text)
    return not codes or codes[-1] == "0"


def output(text: str) -> str:
    """What a program printed, without the remarks of the tool."""
    return "\n".join(line for line in text.splitlines() if not re.match(r"\[|wrote |files written", line)).strip()


def summary(request: str) -> str:
    """The answer: the results as they stand in the request."""
    results = request.rpartition("Results:\n")[2]
    lines = [line for line in results.splitlines() if line and line.rstrip(":") not in {s["text"] for s in PLAN}]
    return "\n".join(f"- {line}" for line in lines)
