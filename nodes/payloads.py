"""Pictures of tool results: stored once beside the checkpoints, and loaded where a request needs them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from ..checkpoints.blobs import BlobStore
from ..models.vision import has_images, is_image
from .once import run_saver

REFERENCE = "blob"
"""Key of an image block whose data are in the blobs of the run's saver."""

Message = TypeVar("Message", bound=BaseMessage)


async def with_references(message: Message, config: RunnableConfig) -> Message:
    """The message with the data of its images in the blobs; as it is where the run's saver keeps none."""
    saver, thread = run_saver(config), config.get("configurable", {}).get("thread_id")
    if saver is None or thread is None:
        return message
    return await _map_images(message, lambda block: _store(block, saver.blobs, str(thread)))


async def with_data(messages: Sequence[BaseMessage], config: RunnableConfig) -> list[BaseMessage]:
    """The messages with the data of their images, for a request.

    Raises:
        CheckpointError: a picture is gone, because its thread was deleted or moved without it.
    """
    saver = run_saver(config)
    if saver is None:
        return list(messages)
    if not any(map(has_images, messages)):
        return list(messages)
    return [await _map_images(message, lambda block: _load(block, saver.blobs)) for message in messages]


async def _map_images(message: Message, change: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> Message:
    if not has_images(message):
        return message
    blocks = [await change(block) if isinstance(block, dict) else block for block in message.content]
    return message.model_copy(update={"content": blocks})


async def _store(block: dict[str, Any], blobs: BlobStore, thread: str) -> dict[str, Any]:
    data = block.get("base64")
    if not is_image(block) or not isinstance(data, str):
        return block
    kept = {key: value for key, value in block.items() if key != "base64"}
    return {**kept, REFERENCE: await blobs.put(thread, b64decode(data))}


async def _load(block: dict[str, Any], blobs: BlobStore) -> dict[str, Any]:
    if REFERENCE not in block:
        return block
    kept = {key: value for key, value in block.items() if key != REFERENCE}
    return {**kept, "base64": b64encode(await blobs.get(block[REFERENCE])).decode()}
