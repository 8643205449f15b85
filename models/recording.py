"""The file format of recordings: JSON Lines, one for each call, linear in what was said.

A line is ``{"request": {"messages": [digest, …], "tools": digest}, "parts": {digest: part}, "reply": message}``.
A part is a message or the tool schemas, written out in the first line that has it and named by digest in the others,
so that a long conversation, which sends its history again in each request, is written once. What changes from run to
run is left out of a part: message ids, metadata, usage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from ..state.errors import UsageError

Part = dict[str, Any] | list[Any]


@dataclass(frozen=True)
class Request:
    """A request in the form in which it is compared."""

    messages: tuple[dict[str, Any], ...]
    """What was said, without ids and metadata."""

    tools: list[dict[str, Any]]
    """Schemas of the tools that were offered."""

    @property
    def exact(self) -> str:
        """Equal for requests that are equal in all that the model sees."""
        return digest([list(self.messages), self.tools])

    @property
    def gist(self) -> str:
        """Equal for requests that ask the same, though the world answered otherwise.

        Leaves out what another run may well have otherwise: the text of system messages (they name the workspace) and
        of tool results, and a prompt sent last, after a task or a tool result. What people and the model said stays.
        """
        passing = len(self.messages) - 1 if self._ends_in_prompt() else len(self.messages)
        said = [
            message["type"] if message["type"] in {"system", "tool"} or place == passing else message
            for place, message in enumerate(self.messages)
        ]
        return digest([said, [tool.get("function", tool).get("name") for tool in self.tools]])

    def _ends_in_prompt(self) -> bool:
        types = [message["type"] for message in self.messages[-2:]]
        return types in (["human", "human"], ["tool", "human"])


@dataclass(frozen=True)
class Record:
    """One recorded call."""

    request: Request
    """What was asked."""

    reply: AIMessage
    """What the model said."""


def request_of(messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]] | None) -> Request:
    """The comparable form of a request."""
    return Request(tuple(map(_part_of, messages)), list(tools or []))


def digest(value: Any) -> str:
    """A short name of a JSON value that no other value has."""
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode(errors="replace")).hexdigest()[:32]


def line_of(request: Request, reply: AIMessage, written: set[str]) -> str:
    """The line of a call; `written` holds the digests of the parts that the file has, and gets the new ones."""
    parts: dict[str, Part] = {}
    names = [_name(message, parts, written) for message in request.messages]
    tools = _name(request.tools, parts, written)
    fields = {"content", "tool_calls", "invalid_tool_calls", "additional_kwargs", "response_metadata", "usage_metadata"}
    said = {key: value for key, value in reply.model_dump(include=fields).items() if value}
    line = {"request": {"messages": names, "tools": tools}, "parts": parts, "reply": said}
    return json.dumps(line, ensure_ascii=False, default=str) + "\n"


def read_recording(path: Path) -> list[Record]:
    """All calls of a recording, in order.

    Raises:
        UsageError: the file is missing or is not a recording.
    """
    parts: dict[str, Any] = {}
    records: list[Record] = []
    try:
        # Not splitlines(): JSON strings may hold other line separators than the line feed.
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            records.append(_record(json.loads(line), parts))
    except OSError as error:
        raise UsageError(f"recording {path} cannot be read: {error.strerror}; check the path.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"recording {path} is malformed in line {len(records) + 1}; record it again.") from error
    return records


def _record(line: Mapping[str, Any], parts: dict[str, Any]) -> Record:
    parts.update(line["parts"])
    messages = tuple(parts[name] for name in line["request"]["messages"])
    return Record(Request(messages, parts[line["request"]["tools"]]), AIMessage(**{"content": "", **line["reply"]}))


def _name(part: Part, parts: dict[str, Part], written: set[str]) -> str:
    name = digest(part)
    if name not in written:
        written.add(name)
        parts[name] = part
    return name


def _part_of(message: BaseMessage) -> dict[str, Any]:
    part: dict[str, Any] = {"type": message.type, "content": message.content}
    if message.name:
        part["name"] = message.name
    if isinstance(message, AIMessage):
        part["calls"] = [[call["name"], call["args"], call["id"]] for call in message.tool_calls]
        part["calls"] += [[call["name"], call["args"], call["id"]] for call in message.invalid_tool_calls]
    elif isinstance(message, ToolMessage):
        part["call"] = message.tool_call_id
    return part
