"""What is known of a model: its name, whether it sees, how much it takes.

The knowledge travels with the model object, in LangChain's `profile`, so that every node can ask the model alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.runnables.base import RunnableBindingBase

from ..state.settings import ModelSettings

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel

Model = TypeVar("Model", bound="BaseChatModel")

RATES = ("requests_per_minute", "tokens_per_minute")
"""Settings of a model's rate limit, by their names in the profile too."""


def with_profile(model: Model, settings: ModelSettings) -> Model:
    """A model whose profile says what the settings say; where they are silent, the provider's own data stay."""
    known: dict[str, Any] = {}
    if "vision" in settings.model_fields_set:
        known["image_inputs"] = settings.vision
    if settings.max_input_tokens is not None:
        known["max_input_tokens"] = settings.max_input_tokens
    for name in RATES:
        if (rate := getattr(settings, name)) is not None:
            known[name] = rate
    if not known:
        return model
    return model.model_copy(update={"profile": {**(model.profile or {}), **known}})


def model_name(model: Any) -> str:
    """Name of a model for prices and for display; the class's name where the model has none.

    Takes a chat model or anything that `bind`, `bind_tools` or `with_config` made of one.
    """
    chat_model = unbound(model)
    for attribute in ("model_name", "model", "model_id", "deployment_name"):
        name = getattr(chat_model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(chat_model).__name__


def sees_images(model: Any) -> bool:
    """Whether a model takes images; a model of which nothing is known does."""
    return bool(_profile(model).get("image_inputs", True))


def max_input_tokens(model: Any) -> int | None:
    """Tokens that one request to the model may have; None where it is not known."""
    limit: int | None = _profile(model).get("max_input_tokens")
    return limit


def requests_per_minute(model: Any) -> int | None:
    """Requests that the model may get in a minute; None for no limit."""
    limit: int | None = _profile(model).get("requests_per_minute")
    return limit


def tokens_per_minute(model: Any) -> int | None:
    """Tokens that calls of the model may take in a minute; None for no limit."""
    limit: int | None = _profile(model).get("tokens_per_minute")
    return limit


def unbound(model: Any) -> Any:
    """The chat model inside what `bind`, `bind_tools` and `with_config` return."""
    while isinstance(model, RunnableBindingBase):
        model = model.bound
    return model


def _profile(model: Any) -> dict[str, Any]:
    profile = getattr(unbound(model), "profile", None)
    return dict(profile) if isinstance(profile, dict) else {}
