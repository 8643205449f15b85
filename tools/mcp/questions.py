"""What a server asks a person while a call runs (elicitation), as our questions, and their answers for the server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...state.question import Question

if TYPE_CHECKING:  # the SDK is slow to import
    from mcp_types import ElicitRequestParams, ElicitResult

DECLINE, CANCEL = "decline", "cancel"
"""Answers that give the server nothing."""

NUMBERS: Mapping[str, type[int] | type[float]] = {"integer": int, "number": float}


def elicitation_question(
    server: str, tool: str, asked: Mapping[str, Any], path: Sequence[str], state: Mapping[str, Any] | None = None
) -> Question:
    """The question of an elicitation.

    Args:
        server: Name of the server.
        tool: The tool that runs.
        asked: Parameters of the elicitation, plain JSON.
        path: Names of the agents.
        state: What a process that takes the answer needs in order to go on with the call.
    """
    return Question(
        kind="elicitation",
        question=f"{server} asks: {asked['message']}" + (f" ({asked['url']})" if asked.get("url") else ""),
        options=_options(asked),
        data={"server": server, "tool": tool, "elicitation": dict(asked), **({"state": dict(state)} if state else {})},
        path=list(path),
    )


def _options(asked: Mapping[str, Any]) -> list[str]:
    properties = _properties(asked)
    if not properties:
        return ["accept", DECLINE]
    [only, *more] = properties.values()
    if more:
        return []
    if only.get("type") == "boolean":
        return ["yes", "no", DECLINE]
    choices = only.get("enum") or [each.get("const") for each in only.get("oneOf", [])]
    return [*map(str, choices), DECLINE] if choices else []


def elicitation_result(asked: Mapping[str, Any], answer: Any) -> ElicitResult:
    """What the server gets for a person's answer.

    An object with the fields of the form, or for a form of one field its value alone; `decline` and `cancel` give
    nothing. What does not fit the form is left to the server to refuse.
    """
    from mcp_types import ElicitResult

    if isinstance(answer, Mapping) and answer.get("action") in (DECLINE, CANCEL, "accept"):
        return ElicitResult.model_validate({"action": answer["action"], "content": answer.get("content")})
    if isinstance(answer, Mapping) and set(answer) == {"answer"} and "answer" not in _properties(asked):
        answer = answer["answer"]
    if answer in (DECLINE, CANCEL):
        return ElicitResult(action=answer)
    return ElicitResult(action="accept", content=_content(asked, answer) if _properties(asked) else None)


def _content(asked: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    properties = _properties(asked)
    if not isinstance(answer, Mapping):
        required = (asked.get("requestedSchema") or {}).get("required") or list(properties)
        return {required[0]: _typed(properties.get(required[0], {}), answer)}
    return {name: _typed(properties.get(name, {}), value) for name, value in answer.items()}


def _typed(schema: Mapping[str, Any], value: Any) -> Any:
    """A text as what the form asks for, where it says just that."""
    if not isinstance(value, str) or schema.get("type") in (None, "string"):
        return value if isinstance(value, str | int | float | bool | list) or value is None else json.dumps(value)
    if schema["type"] == "boolean":
        return value.strip().lower() in ("yes", "y", "true", "1")
    try:
        return NUMBERS[schema["type"]](value)
    except (KeyError, ValueError):
        return value


def _properties(asked: Mapping[str, Any]) -> dict[str, Any]:
    return dict((asked.get("requestedSchema") or {}).get("properties") or {})


def asked_params(params: ElicitRequestParams) -> dict[str, Any]:
    """The parameters of an elicitation as plain JSON, under the names of the protocol."""
    dumped: dict[str, Any] = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: value for key, value in dumped.items() if key != "_meta"}
