"""Where the nodes of a graph get their chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langgraph.config import get_stream_writer

from ..models.call import call_model
from ..models.load import load_model, model_settings
from ..models.profile import model_name
from ..models.usage import usage_of
from ..state.context import RunContext
from ..state.outcome import Usage
from ..state.settings import Settings

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig


@dataclass(frozen=True)
class ModelSource:
    """The model a graph was made with, unless the run's context names another; each is loaded once."""

    settings: Settings
    """Where defaults and the `[llm]` tables come from."""

    model: BaseChatModel | str | None = None
    """A model or the name of one; None for the settings' model."""

    _loaded: dict[str | None, BaseChatModel] = field(default_factory=dict)
    _retries: dict[str | None, int] = field(default_factory=dict)

    async def chat_model(self, context: RunContext) -> BaseChatModel:
        """The model of this run.

        Raises:
            UsageError: no model is set, or its name, key or package is wrong or missing.
        """
        chosen = context.model or self.model
        if chosen is not None and not isinstance(chosen, str):
            return chosen
        if chosen not in self._loaded:
            # Loading imports a provider's package, which reads files.
            self._loaded[chosen] = await asyncio.to_thread(load_model, chosen, settings=self.settings)
        return self._loaded[chosen]

    async def ask(
        self,
        model: Runnable[LanguageModelInput, AIMessage],
        request: Sequence[BaseMessage],
        context: RunContext,
        config: RunnableConfig,
    ) -> tuple[AIMessage, Usage]:
        """The reply of a model, with or without bound tools, to one request, and what it used.

        Raises:
            ModelError: the provider refused, or did not answer within the allowed tries.
        """
        retries = self.max_retries(context)
        reply = await call_model(model, request, max_retries=retries, config=config, on_wait=tell_of_wait)
        return reply, usage_of(reply, model_name(model), self.settings.prices)

    def max_retries(self, context: RunContext) -> int:
        """Further tries of a call that failed in a way that may pass."""
        chosen = context.model or self.model
        name = chosen if isinstance(chosen, str) else None
        if name not in self._retries:
            self._retries[name] = model_settings(name, self.settings).max_retries
        return self._retries[name]


def tell_of_wait(why: str, seconds: float) -> None:
    """Tell whoever listens to the run that a call waits for its turn."""
    get_stream_writer()({"kind": "wait", "message": why, "seconds": seconds})
