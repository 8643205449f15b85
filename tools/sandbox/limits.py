"""Which sandbox, and what it may use, as the settings have it."""

from ...state.sandbox import MEGABYTE, Limits, SandboxOptions

__all__ = ["MEGABYTE", "Limits", "SandboxOptions"]
