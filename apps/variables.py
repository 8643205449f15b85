"""Variables of the environment that are called like settings, and that nothing reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import get_origin

from pydantic import BaseModel

from ..checkpoints.encryption import KEY_VARIABLE
from ..state.settings import ModelSettings, Settings
from ..state.settings_layers import NESTED, PREFIX
from ..tools.sandbox.bridge import MARK

OTHERS = (KEY_VARIABLE, MARK)
"""Variables that are read beside the settings; the mark stands in what runs inside of a sandbox."""


def unread_notice(names: Iterable[str]) -> str:
    """The line about variables of these names that nothing reads; empty where there are none.

    What is wrong below a table that there is, such as `CLEW_LIMITS__MAX_STEP`, is an error of the settings themselves.
    """
    unread = [name for name in sorted(names) if name.upper().startswith(PREFIX) and not _is_read(name.upper())]
    if not unread:
        return ""
    known = [*OTHERS, *_variables(Settings, PREFIX)]
    told = (_with_nearest(name, get_close_matches(name.upper(), known, n=1)) for name in unread)
    return f"nothing reads {', '.join(told)}; clew.example.toml shows all settings"


def _is_read(variable: str) -> bool:
    name, nested, _ = variable.removeprefix(PREFIX).partition(NESTED)
    field = Settings.model_fields.get(name.lower())
    return variable in OTHERS or (field is not None and (not nested or _is_table(field.annotation)))


def _is_table(annotation: object) -> bool:
    return get_origin(annotation) in (dict, list) or (
        isinstance(annotation, type) and issubclass(annotation, BaseModel)
    )


def _variables(settings: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in settings.model_fields.items():
        table = ModelSettings if name == "llm" else field.annotation
        yield f"{prefix}{name.upper()}"
        if isinstance(table, type) and issubclass(table, BaseModel):
            yield from _variables(table, f"{prefix}{name.upper()}{NESTED}")


def _with_nearest(name: str, near: list[str]) -> str:
    return f"{name} (did you mean {near[0]}?)" if near else name
