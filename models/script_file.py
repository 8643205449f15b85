"""The format of script files.

A `.json` file holds a list of replies, or an object with `replies`, or an object with named `scripts`; the fields are
those of `Script` and `ScriptedReply`::

    {"scripts": [
        {"name": "planner", "match": "^Make a plan",
         "replies": [{"tool_calls": [{"name": "planning", "args": {"command": "create"}}]}]},
        {"name": "agent",
         "replies": [
             {"content": "I look first.", "tool_calls": [{"name": "bash", "args": {"command": "ls"}}], "delay": 0.2},
             {"error": {"status": 503, "message": "overloaded", "times": 2}},
             "That is all."]}]}

Which script answers a request: the first in the file whose `match`, a regular expression in which `^` and `$` stand
for line ends, is found in the text of the request's system and human messages; a script without `match` fits every
request. Which reply: the one after the newest reply of that script in the request, so that a new process goes on where
an old one stopped.

A `.py` file defines `reply(messages, tools)`, plain or async (async where it waits), which is given the request's
messages and the schemas of the tools it may call, and returns an `AIMessage`, a text, or a reply as in JSON.
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ..state.errors import UsageError
from ..state.settings import first_line
from .script import ReplyFunction, Script


class ScriptFile(BaseModel):
    """The whole of a JSON file: one script's replies, or named scripts."""

    model_config = ConfigDict(extra="forbid")

    scripts: list[Script]
    """In the order in which they are tried."""

    @model_validator(mode="before")
    @classmethod
    def _from_replies(cls, value: Any) -> Any:
        if isinstance(value, list):
            value = {"replies": value}
        if isinstance(value, dict) and "scripts" not in value:
            value = {"scripts": [value]}
        return value

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [script.name for script in self.scripts]
        if len(set(names)) < len(names):
            raise ValueError("each script needs a name of its own")
        return self


def read_script(path: Path) -> list[Script] | ReplyFunction:
    """Read a script file: scripts from `.json`, the function `reply` from `.py`.

    Raises:
        UsageError: the file is missing, is of another kind, or is not in the format above.
    """
    try:
        if path.suffix == ".json":
            return ScriptFile.model_validate(json.loads(path.read_text(encoding="utf-8"))).scripts
        if path.suffix == ".py":
            return _read_function(path)
    except OSError as error:
        raise UsageError(f"script {path} cannot be read: {error.strerror}; check the path.") from error
    except ValidationError as error:
        raise UsageError(f"script {path} is malformed: {first_line(error)}.") from error
    except ValueError as error:
        raise UsageError(f"script {path} is not JSON: {error}.") from error
    raise UsageError(f"script {path} must be a .json or a .py file.")


def _read_function(path: Path) -> ReplyFunction:
    try:
        found = runpy.run_path(str(path)).get("reply")
    except SyntaxError as error:
        raise UsageError(f"script {path} is not Python: {error.msg} in line {error.lineno}.") from error
    if not callable(found):
        raise UsageError(f"script {path} must define a function reply(messages, tools).")
    function: ReplyFunction = found
    return function
