"""OpenAI's models, and those of every server that speaks its protocol: Azure, Ollama, vLLM and others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from ..state.errors import UsageError
from ..state.settings import ModelSettings
from .profile import with_profile

if TYPE_CHECKING:
    from langchain_openai.chat_models.base import BaseChatOpenAI

NO_KEY = SecretStr("none")
"""Sent to a server of one's own, which asks for no key."""


def openai_model(name: str, settings: ModelSettings) -> BaseChatOpenAI:
    """A chat model of the server that the settings name, else `OPENAI_BASE_URL`, else OpenAI itself.

    The client makes no retries of its own (`call_model` makes them), and streams tell their usage.

    Raises:
        UsageError: a key, an address or an API version is missing.
    """
    if settings.api_type == "azure":
        return with_profile(_azure(name, settings), settings)
    # The import takes most of a second.
    from langchain_openai import ChatOpenAI

    base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    key = settings.api_key or _key("OPENAI_API_KEY") or (NO_KEY if base_url else None)
    if key is None:
        raise UsageError(
            f"openai:{name} needs a key: set OPENAI_API_KEY, or `api_key` under [llm] in clew.toml; "
            "for a server of your own, such as Ollama, set `base_url`."
        )
    return with_profile(ChatOpenAI(model=name, base_url=base_url, api_key=key, **_options(settings)), settings)


def _azure(name: str, settings: ModelSettings) -> BaseChatOpenAI:
    from langchain_openai import AzureChatOpenAI

    endpoint = settings.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT")
    key = settings.api_key or _key("AZURE_OPENAI_API_KEY") or _key("OPENAI_API_KEY")
    version = settings.api_version or os.environ.get("OPENAI_API_VERSION")
    for value, field, variable in (
        (endpoint, "base_url", "AZURE_OPENAI_ENDPOINT"),
        (key, "api_key", "AZURE_OPENAI_API_KEY"),
        (version, "api_version", "OPENAI_API_VERSION"),
    ):
        if not value:
            raise UsageError(f"Azure model {name!r} needs `{field}` under [llm] in clew.toml, or {variable}.")
    return AzureChatOpenAI(
        model=name,
        azure_deployment=name,
        azure_endpoint=endpoint,
        api_key=key,
        api_version=version,
        **_options(settings),
    )


def _key(variable: str) -> SecretStr | None:
    value = os.environ.get(variable)
    return SecretStr(value) if value else None


def _options(settings: ModelSettings) -> dict[str, Any]:
    return {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "timeout": settings.timeout,
        "stream_chunk_timeout": settings.timeout,
        "max_retries": 0,
        "stream_usage": True,
    }
