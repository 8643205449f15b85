"""The tools that one request to the model offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..models.tokens import tools_tokens
from ..state.spec import ToolChoice

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel, LanguageModelInput

    BoundModel = Runnable[LanguageModelInput, AIMessage]


@dataclass(frozen=True, eq=False)
class Toolbox:
    """Tools by name, with what is worked out of them once."""

    tools: Mapping[str, BaseTool]
    """The tools, in the order in which a model is told of them."""

    choice: ToolChoice
    """The tool choice of the agent; with `none` the model is told of no tool."""

    _bound: dict[int, BoundModel] = field(default_factory=dict)

    @cached_property
    def tokens(self) -> int:
        """Tokens of the tools' schemas in a request, by estimate."""
        if self.choice == "none":
            return 0
        return tools_tokens([convert_to_openai_tool(tool) for tool in self.tools.values()])

    def bound(self, model: BaseChatModel) -> BoundModel:
        """The model with the tools and the tool choice."""
        if not self.tools or self.choice == "none":
            return model
        if id(model) not in self._bound:
            choice = "any" if self.choice == "required" else None
            self._bound[id(model)] = model.bind_tools(list(self.tools.values()), tool_choice=choice)
        return self._bound[id(model)]
