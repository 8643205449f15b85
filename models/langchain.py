"""Models of the other providers, through the `langchain` package."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel

from ..state.errors import UsageError
from ..state.settings import ModelSettings
from .profile import with_profile


def langchain_model(provider: str, name: str, settings: ModelSettings) -> BaseChatModel:
    """A model of any provider that LangChain's `init_chat_model` knows.

    Raises:
        UsageError: the package of LangChain or of the provider is missing, or the provider or a setting is unknown.
    """
    try:
        from langchain.chat_models import init_chat_model

        model: BaseChatModel = init_chat_model(name, model_provider=provider, **_options(settings))
    except ImportError as error:
        raise UsageError(
            f"{provider}:{name} needs the package langchain and the provider's own: "
            f"pip install langchain langchain-{provider.replace('_', '-')}."
        ) from error
    except ValueError as error:
        raise UsageError(
            f"{provider}:{name} cannot be used: {' '.join(str(error).split())[:300]}; for an OpenAI-compatible server "
            f"write openai:{provider}:{name}."
        ) from error
    return with_profile(model, settings)


def _options(settings: ModelSettings) -> dict[str, Any]:
    # Clients differ in the options that they take, so only what is set is passed on. We make the retries ourselves.
    options = settings.model_dump(include={"temperature", "max_tokens", "base_url"}, exclude_none=True)
    if settings.api_key is not None:
        options["api_key"] = settings.api_key
    return {**options, "timeout": settings.timeout, "max_retries": 0}
