"""`file_view`: look at a file or a folder, and change nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field

from ..state.errors import ToolFailure
from .base import WorkspaceTool
from .editor.mirror import fetch
from .editor.viewing import view
from .image_blocks import Content
from .traits import Traits


class FileViewArguments(BaseModel):
    """Arguments of `file_view`."""

    path: str = Field(description="File or folder: relative to the workspace, or absolute inside it.")
    view_range: list[int] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="Of a text file: first and last line, from 1; -1 as last line for the end.",
    )


class FileView(WorkspaceTool):
    """View files, pictures and folders: the editor's `view`, for agents that must not write."""

    name: str = "file_view"
    description: str = (
        "View a text file of the workspace with line numbers, a picture, or a folder two levels deep. Changes nothing."
    )
    args_schema: type[BaseModel] = FileViewArguments
    metadata: dict[str, Any] | None = Traits(parallel=True, idempotent=True, risk="low").metadata()

    async def _arun(self, path: str, config: RunnableConfig, view_range: list[int] | None = None) -> Content:
        if self.sandbox.remote:
            async with self._use_sandbox(config) as sandbox:
                folder = await fetch(sandbox, sandbox.workspace, path)
            if folder is not None:
                return folder
        return await asyncio.to_thread(self._view, path, view_range, config)

    def _view(self, path: str, view_range: list[int] | None, config: RunnableConfig) -> Content:
        workspace = self._open_workspace(config)
        file = workspace.resolve(path)
        try:
            return view(workspace, file, view_range)
        except OSError as error:
            raise ToolFailure(f"{workspace.name(file)}: {error.strerror or error}.") from error
