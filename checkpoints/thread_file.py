"""The file of an exported thread: its first line, frames with the parts of the thread, and an end that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Annotated, Any, BinaryIO, Literal, NoReturn
from zlib import crc32

import ormsgpack
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, TypeAdapter, with_config
from typing_extensions import NotRequired, TypedDict

from ..state.errors import CheckpointError, UsageError
from ..state.thread import ThreadRecord
from .encryption import KEY_VARIABLE
from .journal import CallStatus

MAGIC = b"clew thread 2\n"
"""How a file begins. A format that this code cannot read has another number."""

LENGTH = Struct(">Q")
"""How a frame begins: with the number of its bytes, without its own beginning."""

CHECKSUM = Struct(">I")
"""What follows: the CRC-32 of all lengths and frames up to the end of this one. Then comes msgpack."""

KINDS = ("msgpack", "msgpack+aes")
"""What the serialiser says of a frame: in the clear, or encrypted."""

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


_FACTS: TypeAdapter[CheckpointFacts] = TypeAdapter(CheckpointFacts)


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
    metadata: Annotated[dict[str, JsonValue], AfterValidator(_FACTS.validate_python)]
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
_PART: TypeAdapter[Part | Ending] = TypeAdapter(Annotated[Part | Ending, Field(discriminator="part")])


class ThreadWriter:
    """Writes a thread to a file, part by part."""

    def __init__(self, file: BinaryIO, serde: SerializerProtocol) -> None:
        self._file = file
        self._serde = serde
        self._checksum = 0
        self._counts: Counter[str] = Counter()
        file.write(MAGIC)

    def write(self, part: Part | Ending) -> None:
        """Write the next part, as the database would store it: masked, and encrypted where that is."""
        frame = ormsgpack.packb(list(self._serde.dumps_typed(part)))
        length = LENGTH.pack(len(frame))
        self._checksum = crc32(frame, crc32(length, self._checksum))
        self._file.write(length + CHECKSUM.pack(self._checksum) + frame)
        self._counts[part["part"]] += 1

    def end(self) -> int:
        """Write the end, without which the file counts as cut short, and return the bytes of the file."""
        self.write({"part": "end", "counts": dict(self._counts)})
        return self._file.tell()


class ThreadReader:
    """Reads a thread from a file that can be read from its beginning again."""

    def __init__(self, file: BinaryIO, serde: SerializerProtocol, path: Path) -> None:
        self._file = file
        self._serde = serde
        self._path = path
        self._size = file.seek(0, 2)

    def check(self) -> Beginning:
        """Read all of the file, and return its first part.

        Raises:
            UsageError: it is no export, or one of another format.
            CheckpointError: it is cut short, damaged, or encrypted with another key, or holds something else.
        """
        parts = self.parts()
        beginning = next(parts)
        if beginning["part"] != "thread" or any(part["part"] == "thread" for part in parts):
            self._refuse_content()
        return beginning

    def parts(self) -> Iterator[Part]:
        """The parts of the thread; the last one comes only if the file is whole.

        Raises:
            UsageError: see `check`.
            CheckpointError: see `check`.
        """
        counts: Counter[str] = Counter()
        for frame in self._frames():
            part = self._decoded(frame)
            if part["part"] == "end":
                if part["counts"] != counts or self._file.tell() != self._size:
                    self._refuse_damage()
                return
            counts[part["part"]] += 1
            yield part
        self._refuse_damage()

    def _frames(self) -> Iterator[bytes]:
        self._file.seek(0)
        self._refuse_others(self._file.read(len(MAGIC)))
        checksum = 0
        while self._file.tell() < self._size:
            length, expected = self._file.read(LENGTH.size), self._file.read(CHECKSUM.size)
            if len(expected) < CHECKSUM.size or LENGTH.unpack(length)[0] > self._size - self._file.tell():
                self._refuse_damage()
            frame = self._file.read(LENGTH.unpack(length)[0])
            checksum = crc32(frame, crc32(length, checksum))
            if checksum != CHECKSUM.unpack(expected)[0]:
                self._refuse_damage()
            yield frame

    def _decoded(self, frame: bytes) -> Part | Ending:
        try:
            kind, data = ormsgpack.unpackb(frame)
            if kind not in KINDS:
                self._refuse_content()
            part = _PART.validate_python(self._serde.loads_typed((kind, data)))
            if part["part"] == "thread" and part["record"]:
                ThreadRecord.model_validate(part["record"])
            return part
        except NotImplementedError as error:
            raise CheckpointError(f"{self._path} is encrypted: set {KEY_VARIABLE} to its key") from error
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            self._refuse_content(error)

    def _refuse_others(self, magic: bytes) -> None:
        if magic == MAGIC:
            return
        if magic[: MAGIC.index(b"2")] == MAGIC[: MAGIC.index(b"2")] and len(magic) == len(MAGIC):
            raise UsageError(f"{self._path} has another format than this clew writes: export the thread with this one")
        raise UsageError(f"{self._path} is no thread: give a file that `clew export` wrote")

    def _refuse_damage(self) -> NoReturn:
        raise CheckpointError(f"{self._path} is cut short or damaged: export the thread again")

    def _refuse_content(self, error: Exception | None = None) -> NoReturn:
        raise CheckpointError(f"{self._path} holds what is no part of a thread: export the thread again") from error
