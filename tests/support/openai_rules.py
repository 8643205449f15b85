"""The rules by which OpenAI refuses a chat-completions request, with its own words."""

from __future__ import annotations

import json
import re
from typing import Any

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
LONGEST_CALL_ID = 40
MOST_TOOLS = 128
CHARACTERS_PER_TOKEN = 4

Json = dict[str, Any]


class Refused(Exception):
    """A request that OpenAI answers with an error."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
        self.body = {
            "error": {"message": message, "type": "invalid_request_error", "param": param, "code": code},
        }


def count_tokens(*values: Any) -> int:
    """Tokens of JSON values by their length; an image counts as 85."""
    raw = re.sub(r'"data:image/[^"]*"', '"' + "i" * 85 * CHARACTERS_PER_TOKEN + '"', json.dumps(values))
    return len(raw) // CHARACTERS_PER_TOKEN


def check_request(request: Json) -> None:
    """Raise `Refused` where OpenAI would."""
    if not request.get("model"):
        raise Refused("you must provide a model parameter")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _empty_array("messages")
    _check_tools(request)
    seen: set[str] = set()
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]")
        if message.get("tool_calls"):
            _check_calls(message["tool_calls"], f"messages[{place}].tool_calls", seen)
    _check_order(messages)


def _check_tools(request: Json) -> None:
    tools = request.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in request:
                raise Refused(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)
        return
    if not tools:
        raise _empty_array("tools")
    if len(tools) > MOST_TOOLS:
        raise Refused(f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}.", "tools")
    names = [tool.get("function", {}).get("name", "") for tool in tools]
    for place, name in enumerate(names):
        if not NAME.match(name):
            raise _bad_name(f"tools[{place}].function.name")
    choice = request.get("tool_choice")
    chosen = choice["function"]["name"] if isinstance(choice, dict) else None
    if chosen and chosen not in names:
        raise Refused(f"Invalid value for 'tool_choice': function '{chosen}' is not in 'tools'.", "tool_choice")
    if isinstance(choice, str) and choice not in {"none", "auto", "required"}:
        raise Refused(
            f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'.", "tool_choice"
        )


def _check_message(message: Json, where: str) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        values = "', '".join(ROLES)
        raise Refused(f"Invalid value: '{role}'. Supported values are: '{values}'.", f"{where}.role", "invalid_value")
    if role == "assistant" and "tool_calls" in message and not message["tool_calls"]:
        raise _empty_array(f"{where}.tool_calls")
    if not content and (role == "assistant" and not message.get("tool_calls")):
        raise Refused("Invalid value for 'content': expected a string, got null.", f"{where}.content")
    if content is None and role != "assistant":
        raise Refused("Invalid value for 'content': expected a string, got null.", f"{where}.content")
    if isinstance(content, list):
        _check_blocks(content, role, where)


def _check_blocks(blocks: list[Any], role: str, where: str) -> None:
    if not blocks:
        raise _empty_array(f"{where}.content")
    allowed = {"text", "image_url", "input_audio", "file"} if role == "user" else {"text"}
    for place, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "image_url" and kind not in allowed:
            raise Refused(
                f"Invalid '{where}'. Image URLs are only allowed for messages with role 'user', but this message with "
                f"role '{role}' contains an image URL.",
                where,
                "invalid_value",
            )
        if kind not in allowed:
            values = "', '".join(sorted(allowed))
            param = f"{where}.content[{place}].type"
            raise Refused(f"Invalid value: '{kind}'. Supported values are: '{values}'.", param, "invalid_value")


def _check_calls(calls: list[Json], where: str, seen: set[str]) -> None:
    for place, call in enumerate(calls):
        identifier, function = call.get("id"), call.get("function", {})
        if not isinstance(identifier, str) or not identifier:
            raise Refused(f"Missing required parameter: '{where}[{place}].id'.", f"{where}[{place}].id")
        if len(identifier) > LONGEST_CALL_ID:
            raise Refused(
                f"Invalid '{where}[{place}].id': string too long. Expected a string with maximum length "
                f"{LONGEST_CALL_ID}, but got a string with length {len(identifier)} instead.",
                f"{where}[{place}].id",
                "string_above_max_length",
            )
        if identifier in seen:
            raise Refused(f"Duplicate value for 'tool_call_id' of '{identifier}' in {where}[{place}].", where)
        seen.add(identifier)
        if not NAME.match(str(function.get("name") or "")):
            raise _bad_name(f"{where}[{place}].function.name")
        if not isinstance(function.get("arguments"), str):
            raise Refused("Invalid type for 'arguments': expected a string.", f"{where}[{place}].function.arguments")


def _check_order(messages: list[Json]) -> None:
    open_calls: list[str] = []
    asked_at = 0
    for place, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            identifier = message.get("tool_call_id")
            if identifier not in open_calls:
                raise Refused(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    f"messages.[{place}].role",
                )
            open_calls.remove(identifier)
        elif open_calls:
            raise Refused(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_calls)}",
                f"messages.[{asked_at}].role",
            )
        if message.get("tool_calls"):
            open_calls, asked_at = [call["id"] for call in message["tool_calls"]], place


def _empty_array(where: str) -> Refused:
    message = (
        f"Invalid '{where}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    )
    return Refused(message, where, "empty_array")


def _bad_name(where: str) -> Refused:
    expected = f"Expected a string that matches the pattern '{NAME.pattern}'."
    message = f"Invalid '{where}': string does not match pattern. {expected}"
    return Refused(message, where, "invalid_value")
