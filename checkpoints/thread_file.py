"""The file of an exported thread: its first line, frames with the parts of the thread, and an end that counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NoReturn
from zlib import crc32

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..state.errors import CheckpointError, UsageError
from ..state.thread import ThreadRecord
from .encryption import CIPHER_MARK, KEY_VARIABLE
from .serializer import CHECKSUM_MARK
from .thread_parts import Beginning, Ending, Part, part_adapter
from .unreadable import UnreadableValue

MAGIC = b"clew thread 2\n"
"""How a file begins. A format that this code cannot read has another number."""

LENGTH = Struct(">Q")
"""How a frame begins: with the number of its bytes, without its own beginning."""

CHECKSUM = Struct(">I")
"""What follows: the CRC-32 of all lengths and frames up to the end of this one. Then comes msgpack."""

KINDS = ("msgpack", "msgpack+aes")
"""What the serialiser says of a frame, before any checksum: in the clear, or encrypted."""


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
            if not isinstance(kind, str) or kind.partition(CHECKSUM_MARK)[0] not in KINDS:
                self._refuse_content()
            part = part_adapter().validate_python(self._serde.loads_typed((kind, data)))
            if part["part"] == "thread" and part["record"]:
                ThreadRecord.model_validate(part["record"])
            return part
        except NotImplementedError as error:
            raise CheckpointError(f"{self._path} is encrypted: set {KEY_VARIABLE} to its key") from error
        except UnreadableValue as error:
            if CIPHER_MARK in kind:
                raise CheckpointError(f"{KEY_VARIABLE} is not the key of {self._path}: give the right one") from error
            self._refuse_content(error)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
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
