"""Whether a call's arguments are what the tool takes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from .reply import INVALID_ARGUMENTS


def problem_of_arguments(tool: BaseTool, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, by the tool's schema; empty where they fit."""
    if INVALID_ARGUMENTS in arguments:
        return "the arguments are no JSON object"
    schema = _schema(tool)
    if isinstance(schema, dict):
        return _problem_by_json_schema(schema, arguments)
    unknown = [name for name in arguments if name not in tool.args]
    if unknown:
        return f"there is no argument {', '.join(unknown)}; there are: {', '.join(tool.args) or 'none'}"
    return _problem_by_model(schema, arguments)


def problems_of(error: ValidationError) -> str:
    """Each field with what is wrong with it."""
    problems = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, problem['loc'])) or 'call'}: {problem['msg']}" for problem in problems)


def _schema(tool: BaseTool) -> Any:
    """What a model may give: the tool's own schema, validators included, where nothing is injected into it."""
    given: Any = tool.tool_call_schema
    if isinstance(given, dict) or not issubclass(given, BaseModel):
        return given
    own: Any = tool.get_input_schema()
    return own if own.model_fields.keys() == given.model_fields.keys() else given


def _problem_by_model(schema: Any, arguments: Mapping[str, Any]) -> str:
    if not issubclass(schema, BaseModel):
        return ""
    try:
        schema.model_validate(dict(arguments))
    except ValidationError as error:
        return problems_of(error)
    return ""


def _problem_by_json_schema(schema: dict[str, Any], arguments: Mapping[str, Any]) -> str:
    missing = [name for name in schema.get("required", []) if name not in arguments]
    if missing:
        return f"missing: {', '.join(missing)}"
    if find_spec("jsonschema") is None:  # it comes with the extra of the tools that have such schemas
        return ""
    jsonschema = import_module("jsonschema")
    found = sorted(jsonschema.Draft202012Validator(schema).iter_errors(dict(arguments)), key=str)
    return "; ".join(f"{'.'.join(map(str, each.absolute_path)) or 'call'}: {each.message}" for each in found)
