"""What a server says of the risk of its tools, as our traits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..traits import Traits

if TYPE_CHECKING:  # the SDK is slow to import
    from mcp_types import ToolAnnotations


def annotated_traits(annotations: ToolAnnotations | None, *, trusted: bool = True) -> Traits:
    """The traits of a tool with these annotations.

    A tool that only reads is of low risk and may run again; one that destroys nothing is of medium risk, any other
    that says something is of high risk. One that says nothing, or is not believed, is of unknown risk.
    """
    if annotations is None or not trusted:
        return Traits()
    if annotations.read_only_hint:
        return Traits(idempotent=True, risk="low")
    idempotent = annotations.idempotent_hint is True
    if annotations.destructive_hint is None:
        return Traits(idempotent=idempotent)
    return Traits(idempotent=idempotent, risk="high" if annotations.destructive_hint else "medium")
