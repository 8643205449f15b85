"""LangChain's standard tests for chat models, against the scripted model and a recording one."""

from __future__ import annotations

import os
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from clew.models.recorded import RecordingModel
from clew.models.scripted import ScriptedModel

SAMPLES: dict[str, Any] = {"integer": 3, "number": 3.0, "boolean": True, "array": [], "object": {}}


def cooperative(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> dict[str, Any] | AIMessage | str:
    """Calls the first tool with arguments of the right types, and says its result once it is there."""
    if not tools or isinstance(messages[-1], ToolMessage):
        return "Said in a few words."
    function = tools[0]["function"]
    fields = function["parameters"].get("properties", {})
    samples = {**SAMPLES, "string": messages[-1].text}
    args = {name: samples[_type_of(field)] for name, field in fields.items()}
    return {"tool_calls": [{"name": function["name"], "args": args}]}


def _type_of(field: dict[str, Any]) -> str:
    kind = field.get("type") or next(each["type"] for each in field["anyOf"] if each["type"] != "null")
    return str(kind)


class OfScriptedModel:
    """A scripted model that cooperates."""

    model_override_value = "another-model"

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ScriptedModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"reply": cooperative}


class OfRecordingModel:
    """A recording model around it."""

    model_override_value = "another-model"

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return RecordingModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": ScriptedModel(reply=cooperative), "path": os.devnull}


class TestScriptedModelUnit(OfScriptedModel, ChatModelUnitTests):
    pass


class TestScriptedModelIntegration(OfScriptedModel, ChatModelIntegrationTests):
    pass


class TestRecordingModelUnit(OfRecordingModel, ChatModelUnitTests):
    pass


class TestRecordingModelIntegration(OfRecordingModel, ChatModelIntegrationTests):
    pass
