"""What a thread is made of outside its database: parts, and the check of parts that come from elsewhere."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Literal

from langchain_core.messages import ToolMessage
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, TypeAdapter, with_config
from typing_extensions import NotRequired, TypedDict

CallStatus = Literal["started", "waiting", "done"]
"""What the journal says of a tool call."""

Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
Version = int | float | Text
_exact = with_config(ConfigDict(strict=True, extra="forbid"))


@_exact
class Beginning(TypedDict):
    """The first part."""

    part: Literal["thread"]
    thread: Annotated[Text, Field(min_length=1)]
    record: dict[str, JsonValue] | None


@with_config(ConfigDict(strict=True, extra="allow"))
class CheckpointState(TypedDict):
    """A checkpoint as LangGraph makes it, which may add to it."""

    id: Text
    channel_values: dict[str, Any]
    channel_versions: dict[str, Version]
    versions_seen: dict[str, dict[str, Version]]
    v: NotRequired[int]
    ts: NotRequired[str]


@with_config(ConfigDict(strict=True, extra="allow"))
class CheckpointFacts(TypedDict):
    """The metadata of a checkpoint, to which a caller may add other JSON."""

    source: NotRequired[Text]
    step: NotRequired[int]
    parents: NotRequired[dict[str, Text]]
    run_id: NotRequired[Text | None]
    counters_since_delta_snapshot: NotRequired[dict[str, list[int]]]


def _searchable(metadata: dict[str, Any]) -> CheckpointFacts:
    json.dumps(metadata, allow_nan=False)
    return _facts_adapter().validate_python(metadata)


@cache
def _facts_adapter() -> TypeAdapter[CheckpointFacts]:
    return TypeAdapter(CheckpointFacts)


@_exact
class StoredWrite(TypedDict):
    """One value that a task wrote."""

    channel: Text
    value: Any


@_exact
class StoredTask(TypedDict):
    """What one task wrote at a checkpoint."""

    task: Text
    path: Text
    run_id: Text | None
    writes: list[StoredWrite]


@_exact
class StoredCheckpoint(TypedDict):
    """A checkpoint, with what tasks wrote there. It comes after its parent."""

    part: Literal["checkpoint"]
    namespace: Text
    parent: Text | None
    checkpoint: CheckpointState
    metadata: Annotated[dict[str, JsonValue], AfterValidator(_searchable)]
    tasks: list[StoredTask]


@_exact
class StoredCall(TypedDict):
    """What the journal knows of a pending tool call."""

    part: Literal["call"]
    namespace: Text
    checkpoint: Text
    task: Text
    call: Text
    status: CallStatus
    result: ToolMessage | None


@_exact
class StoredPayload(TypedDict):
    """A large payload that the thread uses."""

    part: Literal["payload"]
    payload: bytes


@_exact
class Ending(TypedDict):
    """The last part: how many there are of each kind before it."""

    part: Literal["end"]
    counts: dict[str, int]


Part = Beginning | StoredCheckpoint | StoredCall | StoredPayload


@cache
def part_adapter() -> TypeAdapter[Part | Ending]:
    """Tells whether a value is a part, and which; made at its first use, since it takes some milliseconds."""
    return TypeAdapter(Annotated[Part | Ending, Field(discriminator="part")])
