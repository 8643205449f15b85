"""`file_search`: find files by name and by content."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ..state.errors import ToolFailure
from .base import SandboxedTool
from .output import Output
from .sandbox.local import converse
from .search import searcher
from .text import require_text
from .traits import Traits

SECONDS = 60.0
"""Time of one search."""


class FileSearchArguments(BaseModel):
    """Arguments of `file_search`."""

    glob: str | None = Field(
        None, description="Names to look for, such as `*.py` at any depth or `src/**/*.ts`; none for all files."
    )
    pattern: str | None = Field(
        None, description="Python regular expression that a line must match; none to list the files alone."
    )
    path: str = Field(".", description="Folder or file to search: relative to the workspace, or absolute inside it.")
    ignore_case: bool = Field(False, description="Whether `pattern` takes small and capital letters for the same.")
    max_results: int = Field(100, gt=0, le=1000, description="Results that are shown.")


class FileSearchArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    truncated: bool
    """Whether the text leaves results out that were found."""

    output_file: str | None
    """Path, relative to the workspace, of all of them."""

    output_blob: str | None
    """Reference of the same among the thread's payloads."""


class FileSearch(SandboxedTool):
    """Search the workspace, passing over binary files and what a `.gitignore` names."""

    name: str = "file_search"
    description: str = (
        "Find files in the workspace by name, and lines in them by a regular expression. Results are `path` or "
        "`path:line: text`, sorted by path. Binary files and what .gitignore names are passed over."
    )
    args_schema: type[BaseModel] = FileSearchArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=True, idempotent=True, risk="low").metadata()

    async def _arun(self, config: RunnableConfig, **arguments: Any) -> tuple[str, FileSearchArtifact]:
        asked = FileSearchArguments(**arguments)
        _check(asked)
        async with self._use_sandbox(config) as sandbox:
            query = {
                "path": str(await sandbox.locate(asked.path)),
                "glob": asked.glob,
                "pattern": asked.pattern,
                "ignore_case": asked.ignore_case,
                "most": asked.max_results,
            }
            process = await sandbox.start((sys.executable, searcher.__file__), readable=[Path(searcher.__file__)])
            output = Output()
            exit_code = await converse(process, json.dumps(query), output, SECONDS)
        if exit_code is None:
            raise ToolFailure(
                f"The search took more than {SECONDS:g} seconds; use a simpler pattern or a smaller path."
            )
        if exit_code != 0:
            raise ToolFailure(f"The search failed: {output.text().strip().splitlines()[-1]}")
        await self._keep(output, config)
        file, blob = output.kept or (None, None)
        return output.text().rstrip("\n"), FileSearchArtifact(
            truncated=output.truncated, output_file=file, output_blob=blob
        )


def _check(asked: FileSearchArguments) -> None:
    require_text(asked.glob or "", "glob")
    require_text(asked.pattern or "", "pattern")
    try:
        re.compile(asked.pattern or "")
    except re.error as error:
        raise ToolFailure(f"`pattern` is no regular expression: {error}; escape what is meant literally.") from error
