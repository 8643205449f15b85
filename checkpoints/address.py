"""The name of a checkpoint, as LangGraph takes it."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig


def address(thread: str, namespace: str, checkpoint: str) -> RunnableConfig:
    """The config that names one checkpoint."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint}}
