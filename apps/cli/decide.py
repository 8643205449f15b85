"""One call, and what the person at the terminal wants done with it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from .report import Reporter
from .review import printable

ReadLine = Callable[[str], Awaitable[str | None]]
"""Puts a prompt and gives the line that was typed; None at the end of the input."""

HELP = (
    "y: it runs; n REASON: it does not, and the agent is told why; e: with other arguments; a: so does all of its kind"
)


async def decide_call(call: Mapping[str, Any], reporter: Reporter, read_line: ReadLine) -> Any:
    """The decision about a call, as the interrupt takes it; None where the person leaves (Ctrl-D)."""
    prompt = f"run {printable(call['name'])}? [y]es, [n]o REASON, [e]dit, [a]ll {printable(call['kind'])}> "
    while (line := await read_line(prompt)) is not None:
        word, _, rest = line.strip().partition(" ")
        match word.lower():
            case "y" | "yes" | "approve":
                return "approve"
            case "a" | "all" | "approve_kind":
                return "approve_kind"
            case "n" | "no" | "reject":
                reason = rest.strip() or await read_line("why not? ")
                return None if reason is None else {"reject": reason}
            case "e" | "edit":
                if (arguments := await _edited(call, reporter, read_line)) is not None:
                    return {"edit": arguments}
            case _:
                reporter.note(HELP)
    return None


async def _edited(call: Mapping[str, Any], reporter: Reporter, read_line: ReadLine) -> dict[str, Any] | None:
    """The arguments as the person edits them, in their editor or as a line of JSON; None where they give it up."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    text = await (_in_editor(editor, call["args"]) if editor else read_line("arguments, as JSON> "))
    if not text or not text.strip():
        return None
    try:
        arguments = json.loads(text)
    except ValueError as error:
        reporter.note(f"that is no JSON: {error}")
        return None
    if isinstance(arguments, dict):
        return arguments
    reporter.note("that is no JSON object of arguments")
    return None


async def _in_editor(editor: str, arguments: Mapping[str, Any]) -> str:
    """What the person leaves in a file that begins with the arguments; empty where the editor fails."""
    with tempfile.TemporaryDirectory(prefix="clew-edit-") as folder:
        file = Path(folder, "arguments.json")
        await asyncio.to_thread(file.write_text, json.dumps(arguments, indent=2, ensure_ascii=False), "utf-8")
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(file))
        failed = await process.wait() != 0
        return "" if failed else await asyncio.to_thread(file.read_text, "utf-8")
