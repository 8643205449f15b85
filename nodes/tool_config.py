"""The config under which a tool is called."""

from __future__ import annotations

from pathlib import Path

from langchain_core.runnables import RunnableConfig

from ..tools.run_services import RunServices


def tool_config(
    config: RunnableConfig, *, task: str, workspace: Path, path: list[str], services: RunServices | None = None
) -> RunnableConfig:
    """The run's config with the workspace and the path of agents, as `configurable` entries.

    A run on no thread keeps what its tools open under the id of its task, so that runs beside it share nothing.
    """
    own = {"workspace": str(workspace), "agent_path": path, **(services.entry() if services else {})}
    return {**config, "configurable": {"thread_id": f"task:{task}", **_given(config), **own}}


def _given(config: RunnableConfig) -> dict[str, object]:
    given = config.get("configurable", {})
    return {key: value for key, value in given.items() if key != "thread_id" or value is not None}
