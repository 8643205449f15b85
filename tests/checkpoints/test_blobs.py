"""A large payload is stored once, found by its content, and lives as long as a thread uses it."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.checkpoints.open import open_saver
from clew.state.errors import CheckpointError

IMAGE = bytes(range(256)) * 4000


async def test_the_same_payload_is_stored_once(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        references = {await saver.blobs.put(thread, IMAGE) for thread in ("a", "b", "a")}
        assert len(references) == 1
        assert await saver.blobs.get(references.pop()) == IMAGE
    stored = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert len(IMAGE) < stored < 1.2 * len(IMAGE)


async def test_no_file_is_made_before_there_is_a_payload(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        assert await saver.blobs.references("t") == {}
        await saver.adelete_thread("t")
        saver.delete_thread("t")
        await saver.acopy_thread("t", "u")
        with pytest.raises(CheckpointError, match="no payload sha256:00"):
            await saver.blobs.get("sha256:00")
    assert [path.name for path in tmp_path.iterdir()] == ["clew.db"]


@pytest.mark.parametrize("sync", [True, False])
async def test_a_payload_goes_with_the_last_thread_that_uses_it(saver, sync):
    reference = await saver.blobs.put("a", IMAGE)
    if sync:
        await asyncio.to_thread(saver.copy_thread, "a", "b")
        await asyncio.to_thread(saver.delete_thread, "a")
    else:
        await saver.acopy_thread("a", "b")
        await saver.adelete_thread("a")
    assert await saver.blobs.references("a") == {}
    assert await saver.blobs.references("b") == {reference: len(IMAGE)}
    assert await saver.blobs.get(reference) == IMAGE
    await saver.aprune(["b"], strategy="delete")
    with pytest.raises(CheckpointError, match="its thread was deleted"):
        await saver.blobs.get(reference)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(payload=st.binary() | st.text())
async def test_any_payload_comes_back(saver, payload):
    expected = payload.encode() if isinstance(payload, str) else payload
    assert await saver.blobs.get(await saver.blobs.put("t", payload)) == expected
