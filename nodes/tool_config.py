"""The config under which a tool is called."""

from __future__ import annotations

from pathlib import Path

from langchain_core.runnables import RunnableConfig


def tool_config(config: RunnableConfig, *, task: str, workspace: Path, path: list[str]) -> RunnableConfig:
    """The run's config with the workspace and the path of agents, as `configurable` entries.

    A run on no thread keeps what its tools open under the id of its task, so that runs beside it share nothing.
    """
    configurable = {"thread_id": f"task:{task}", **_given(config), "workspace": str(workspace), "agent_path": path}
    return {**config, "configurable": configurable}


def _given(config: RunnableConfig) -> dict[str, object]:
    given = config.get("configurable", {})
    return {key: value for key, value in given.items() if key != "thread_id" or value is not None}
