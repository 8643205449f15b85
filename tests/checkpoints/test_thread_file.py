"""A file that is not whole, not sound or not of a thread is refused with a sentence, and nothing is imported."""

import asyncio
import io
import os
from itertools import pairwise

import ormsgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labyrinth_threads import pending_calls, waiting

from clew.checkpoints.export import export_thread, import_thread
from clew.checkpoints.journal import Journal
from clew.checkpoints.open import open_saver
from clew.checkpoints.thread_file import CHECKSUM, LENGTH, MAGIC, ThreadReader, ThreadWriter
from clew.checkpoints.threads import thread_registry
from clew.state.errors import CheckpointError, ClewError, UsageError

KEY = "a key that only this test knows"
CASES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)


@pytest.fixture(params=[None, KEY], ids=["plain", "encrypted"])
def key(request):
    return request.param


@pytest.fixture
async def whole(tmp_path, key):
    """The bytes of a file with everything that a thread can have."""
    async with open_saver(tmp_path / "source.db", key=key) as source:
        for call, checkpoint in (await pending_calls(await waiting(source))).items():
            await Journal(source).begin(call, checkpoint)
        await export_thread(source, "t", tmp_path / "t.clew")
    return (tmp_path / "t.clew").read_bytes()


@pytest.fixture
async def target(tmp_path, key):
    async with open_saver(tmp_path / "target.db", key=key) as saver:
        yield saver


async def refused(saver, path, data):
    """The error of an import of these bytes; nothing of them is in the database."""
    path.write_bytes(data)
    with pytest.raises(ClewError) as caught:
        await import_thread(saver, path)
    assert await is_empty(saver)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


async def is_empty(saver):
    tables = ("checkpoints", "writes", "journal", "threads", "leases")
    rows = [row for table in tables for row in await saver.database.fetch(f"SELECT * FROM {table}")]
    return not rows and not await saver.blobs.references("t")


def boundaries(data):
    """Where the frames of a file begin, and where the last one ends."""
    places = [len(MAGIC)]
    while places[-1] < len(data):
        (length,) = LENGTH.unpack_from(data, places[-1])
        places.append(places[-1] + LENGTH.size + CHECKSUM.size + length)
    return places


async def test_a_file_that_ends_between_two_frames_is_cut_short(whole, target, tmp_path):
    *cuts, end = boundaries(whole)
    assert end == len(whole)
    assert len(cuts) > 10
    for cut in cuts:
        error = await refused(target, tmp_path / "cut", whole[:cut])
        assert (type(error), str(error)) == (
            CheckpointError,
            f"{tmp_path}/cut is cut short or damaged: export the thread again",
        )


@CASES
@given(data=st.data())
async def test_a_file_that_is_cut_anywhere_is_refused(whole, target, tmp_path, data):
    await refused(target, tmp_path / "cut", whole[: data.draw(st.integers(0, len(whole) - 1))])


@CASES
@given(data=st.data())
async def test_a_file_with_one_wrong_bit_is_refused(whole, target, tmp_path, data):
    starts = boundaries(whole)[:-1]
    heads = st.sampled_from([start + place for start in starts for place in range(LENGTH.size + CHECKSUM.size)])
    place = data.draw(heads | st.integers(0, len(whole) - 1))
    wrong = bytearray(whole)
    wrong[place] ^= 1 << data.draw(st.integers(0, 7))
    await refused(target, tmp_path / "wrong", bytes(wrong))


@CASES
@given(data=st.data())
async def test_frames_that_are_missing_twice_or_elsewhere_are_noticed(whole, target, tmp_path, data):
    places = boundaries(whole)
    frames = [whole[start:end] for start, end in pairwise(places)]
    other = data.draw(st.lists(st.sampled_from(range(len(frames))), max_size=len(frames) + 2))
    if other != list(range(len(frames))):
        await refused(target, tmp_path / "other", whole[: places[0]] + b"".join(frames[place] for place in other))


async def test_more_after_the_end_is_refused(whole, target, tmp_path):
    await refused(target, tmp_path / "longer", whole + b"\0")
    await refused(target, tmp_path / "twice", whole + whole)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


KINDS = st.sampled_from(["msgpack", "msgpack+aes", "msgpack+", "pickle", "json", "bytes", "null"]) | st.text()


def rewritten(serde, parts):
    """A file with these parts, whatever they are, and with the right lengths, sums and counts."""
    file = io.BytesIO()
    writer = ThreadWriter(file, serde)
    for part in parts:
        writer.write(part)
    writer.end()
    return file.getvalue()


@CASES
@given(data=st.data())
async def test_a_sound_file_with_foreign_content_is_imported_as_it_is_or_refused(whole, target, tmp_path, data):
    parts = list(ThreadReader(io.BytesIO(whole), target.serde, tmp_path / "t.clew").parts())
    part = data.draw(st.sampled_from(parts))
    field = data.draw(st.sampled_from(sorted(part.keys() - {"part"})))
    inner = part[field] if isinstance(part[field], dict) and data.draw(st.booleans()) else part
    if inner is not part:
        field = data.draw(st.sampled_from(sorted(inner)))
    if data.draw(st.booleans()):
        inner[field] = data.draw(ANYTHING)
    else:
        del inner[field]
    (tmp_path / "foreign").write_bytes(rewritten(target.serde, parts))
    try:
        await import_thread(target, tmp_path / "foreign", "t")
    except ClewError:
        assert await is_empty(target)
    else:
        await target.adelete_thread("t")
        await target.database.write(("DELETE FROM threads", ()))


@CASES
@given(content=ANYTHING | st.builds(lambda kind, value: [kind, ormsgpack.packb(value)], KINDS, ANYTHING))
async def test_a_sound_frame_with_anything_in_it_is_refused(target, tmp_path, content):
    class Anything:
        def dumps_typed(self, part):
            return content if isinstance(content, list) else [content]

    await refused(target, tmp_path / "foreign", rewritten(Anything(), [{"part": "thread"}]))


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
async def test_a_number_that_is_no_json_is_refused_where_the_database_looks_into_json(whole, target, tmp_path, number):
    parts = list(ThreadReader(io.BytesIO(whole), target.serde, tmp_path / "t.clew").parts())
    parts[1]["metadata"]["score"] = {"of": [number]}
    error = await refused(target, tmp_path / "foreign", rewritten(target.serde, parts))
    assert "holds what is no part of a thread" in str(error)


@pytest.mark.parametrize("begin", [b"", MAGIC[:-4], b"something else", b"\0" * 100])
async def test_a_file_that_begins_otherwise_is_no_thread(target, tmp_path, begin):
    error = await refused(target, tmp_path / "other", begin)
    assert (type(error), "is no thread: give a file that `clew export` wrote" in str(error)) == (UsageError, True)


async def test_a_file_of_another_format_says_so(whole, target, tmp_path):
    error = await refused(target, tmp_path / "older", b"clew thread 1\n" + whole[len(MAGIC) :])
    assert "has another format than this clew writes: export the thread with this one" in str(error)


async def test_a_thread_comes_out_of_a_pipe(whole, target, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writing = asyncio.create_task(asyncio.to_thread((tmp_path / "pipe").write_bytes, whole))
    assert await import_thread(target, tmp_path / "pipe") == "t"
    await writing
    assert (await thread_registry(target).get("t")).task == "find the way out"
