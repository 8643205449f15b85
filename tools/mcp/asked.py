"""The question that an earlier process left open in the middle of a call."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_CHECKPOINTER, INTERRUPT
from langgraph.checkpoint.base import BaseCheckpointSaver

from ..resources import NAMESPACE_SEPARATOR

__all__ = ["CONFIG_KEY_CHECKPOINTER", "question_left_open"]

ELICITATION = "elicitation"


async def question_left_open(config: RunnableConfig) -> dict[str, Any] | None:
    """The elicitation with which this very tool call interrupted its run; None if it is called for the first time."""
    configurable = config.get("configurable", {})
    saver = configurable.get(CONFIG_KEY_CHECKPOINTER)
    if not isinstance(saver, BaseCheckpointSaver):
        return None
    parent, _, own = str(configurable.get("checkpoint_ns") or "").rpartition(NAMESPACE_SEPARATOR)
    place: RunnableConfig = {"configurable": {"thread_id": configurable["thread_id"], "checkpoint_ns": parent}}
    found = await saver.aget_tuple(place)
    task = own.rpartition(":")[2]
    for writer, channel, value in (found.pending_writes or []) if found else []:
        if writer == task and channel == INTERRUPT:
            question = value[0].value
            return question if isinstance(question, dict) and question.get("kind") == ELICITATION else None
    return None
