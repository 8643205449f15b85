"""The calls that a person is asked about, in plain lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...state.stream import QuestionEvent


def call_lines(question: QuestionEvent) -> Iterator[str]:
    """For each call its id, tool and risk, then what it would do: the command, the difference or the address."""
    for call in question.data.get("calls", []):
        yield heading(call)
        yield from (f"    {line}" for line in shown_text(call).split("\n") if shown_text(call))
        yield from (f"    {line}" for line in other_arguments(call))


def heading(call: Mapping[str, Any]) -> str:
    """The line above one call."""
    return f"  {call['id']}: {printable(call['name'])}, {call['risk']} risk"


def shown_text(call: Mapping[str, Any]) -> str:
    """The command, the code, the difference or the address; empty where the arguments say it all."""
    return printable(call["preview"]["text"])


def other_arguments(call: Mapping[str, Any]) -> list[str]:
    """The arguments that the text does not show, one a line."""
    shown = call["preview"]["arguments"]
    others = {name: value for name, value in call["args"].items() if name not in shown}
    return [printable(f"{name}: {json.dumps(value, ensure_ascii=False)}") for name, value in others.items()]


def printable(text: str) -> str:
    """The text with all that a terminal would obey or hide written out, so that what is seen is what is approved."""
    return "".join(each if each.isprintable() or each == "\n" else _written_out(each) for each in text)


def _written_out(character: str) -> str:
    return "    " if character == "\t" else character.encode("unicode_escape").decode()
