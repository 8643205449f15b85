"""How a long history is made to fit: the condensers of an agent, and what they have settled so far.

The thread keeps the whole history. What condensers settle is a view of it: which part is sent, what of it is masked,
and the summary that stands for the part before.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from typing_extensions import TypedDict


class _Condenser(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Recent(_Condenser):
    """Send the task and the newest messages only."""

    kind: Literal["recent"] = "recent"

    max_messages: int = Field(50, ge=4)
    """Messages that are sent; when there are more, the oldest half of them is left out at once."""


class MaskResults(_Condenser):
    """Send a short marker in the place of each old tool result."""

    kind: Literal["mask_results"] = "mask_results"

    keep: PositiveInt = 10
    """Newest results that are sent whole; up to twice as many are, so that requests keep their beginning."""


class MaskImages(_Condenser):
    """Send a short marker in the place of each old screenshot or other picture of a tool."""

    kind: Literal["mask_images"] = "mask_images"

    keep: PositiveInt = 2
    """Newest pictures that are sent; up to twice as many are."""


class Summarize(_Condenser):
    """Send a summary, which a model writes, in the place of the older part of the history."""

    kind: Literal["summarize"] = "summarize"

    max_messages: int = Field(60, ge=4)
    """Messages that are sent; when there are more, the older half of them goes into the summary."""

    max_tokens: PositiveInt | None = None
    """Tokens, by estimate, of the messages that are sent, as a second bound; None for none."""

    model: str | None = None
    """Name of the model that writes the summary; None for the agent's own."""


Condenser = Annotated[Recent | MaskResults | MaskImages | Summarize, Field(discriminator="kind")]
"""Any condenser. Several work one after the other, as a pipeline."""


class Condensation(TypedDict):
    """What the condensers of an agent have settled. It changes in jumps, so a step does not store it again."""

    cut: int
    """Place in `messages` where the part that is sent begins."""

    summary: str
    """What stands for the messages before `cut`; empty where nothing does."""

    results: int
    """Place in `messages` before which results of tools are masked."""

    images: int
    """Place in `messages` before which pictures of tools are masked."""


def no_condensation() -> Condensation:
    """Everything is sent as it is."""
    return Condensation(cut=0, summary="", results=0, images=0)


def condensation_of(state: Any) -> Condensation:
    """What the condensers have settled in a state; nothing where there are none."""
    return state.get("condensed") or no_condensation()
