"""`str_replace_editor`: view, create and edit files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ..state.confirmation import Preview
from ..state.errors import ToolFailure
from .base import WorkspaceTool
from .editor.difference import difference
from .editor.display import snippet
from .editor.document import Document, parse, plain
from .editor.edits import insert_after, replace_once
from .editor.history import History, write_atomically
from .editor.mirror import fetch, push
from .editor.viewing import read, view
from .image_blocks import Content
from .text import require_text
from .traits import Traits
from .workspace import Workspace

EditorCommand = Literal["view", "create", "str_replace", "insert", "undo_edit"]


class EditorArguments(BaseModel):
    """Arguments of `str_replace_editor`."""

    command: EditorCommand = Field(description="What to do.")
    path: str = Field(description="File or folder: relative to the workspace, or absolute inside it.")
    file_text: str | None = Field(None, description="For `create`: the whole content of the new file.")
    old_str: str | None = Field(
        None, description="For `str_replace`: the text to replace. It must stand in the file exactly once."
    )
    new_str: str | None = Field(
        None, description="For `str_replace`: the text to put there, none to delete. For `insert`: the lines to insert."
    )
    insert_line: int | None = Field(None, description="For `insert`: the line after which to insert; 0 for the top.")
    view_range: list[int] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="For `view` of a file: first and last line, from 1; -1 as last line for the end.",
    )


class EditorArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    command: EditorCommand
    """What was done."""

    path: str
    """Path relative to the workspace."""

    changed: bool
    """Whether the file was written or removed."""


class StrReplaceEditor(WorkspaceTool):
    """View files and pictures, create and edit text files. What is not asked for stays as it is, byte for byte."""

    name: str = "str_replace_editor"
    description: str = (
        "View, create and edit files in the workspace. `view` shows a text file with line numbers, a picture, or a "
        "folder two levels deep; `create` makes a file that is not there yet; `str_replace` replaces a text that "
        "stands in the file exactly once, white space included; `insert` adds lines; `undo_edit` takes back the last "
        "edit of a file."
    )
    args_schema: type[BaseModel] = EditorArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=False, risk="medium").metadata()

    async def _arun(self, config: RunnableConfig, **arguments: Any) -> tuple[Content, EditorArtifact]:
        asked = EditorArguments(**arguments)
        if not self.sandbox.remote:
            return await asyncio.to_thread(self._edit, config, asked)
        async with self._use_sandbox(config) as sandbox:
            folder = await fetch(sandbox, sandbox.workspace, asked.path)
            if folder is not None and asked.command == "view":
                return folder, EditorArtifact(command="view", path=asked.path, changed=False)
            edited = await asyncio.to_thread(self._edit, config, asked)
            if edited[1]["changed"]:
                await push(sandbox, sandbox.workspace, asked.path)
        return edited

    async def preview(self, config: RunnableConfig, arguments: Mapping[str, Any]) -> Preview | None:
        """The difference that an edit would make to its file; None where it would make none."""
        try:
            asked = EditorArguments.model_validate(dict(arguments))
            if self.sandbox.remote:
                async with self._use_sandbox(config) as sandbox:
                    await fetch(sandbox, sandbox.workspace, asked.path)
            text = await asyncio.to_thread(self._difference, config, asked)
        except (ToolFailure, OSError, ValueError):  # the call itself says what is wrong
            return None
        return Preview(language="diff", text=text, arguments=list(arguments)) if text else None

    def _difference(self, config: RunnableConfig, arguments: EditorArguments) -> str:
        workspace = self._open_workspace(config)
        file = workspace.resolve(arguments.path)
        name = workspace.name(file)
        match arguments.command:
            case "create" if not file.exists():
                return difference(name, None, plain(arguments.file_text or ""))
            case "str_replace":
                before = parse(read(workspace, file))
                after, _ = replace_once(before, arguments.old_str or "", arguments.new_str or "")
                return difference(name, before.text, after.text)
            case "insert":
                before = parse(read(workspace, file))
                after, _ = insert_after(before, arguments.insert_line or 0, arguments.new_str or "")
                return difference(name, before.text, after.text)
        return ""

    def _edit(self, config: RunnableConfig, arguments: EditorArguments) -> tuple[Content, EditorArtifact]:
        workspace = self._open_workspace(config)
        file = workspace.resolve(arguments.path)
        name = workspace.name(file)
        artifact = EditorArtifact(command=arguments.command, path=name, changed=arguments.command != "view")
        try:
            return _COMMANDS[arguments.command](workspace, file, arguments), artifact
        except OSError as error:
            raise ToolFailure(f"{name}: {error.strerror or error}.") from error


def _view(workspace: Workspace, file: Path, arguments: EditorArguments) -> Content:
    return view(workspace, file, arguments.view_range)


def _create(workspace: Workspace, file: Path, arguments: EditorArguments) -> str:
    text = _required(arguments.file_text, "file_text", "create")
    if file.exists():
        raise ToolFailure(f"{workspace.name(file)} is there already; edit it with str_replace or insert.")
    content = text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    History.of(workspace, file).push(None, content)
    write_atomically(file, content)
    return f"Created {workspace.name(file)} ({len(content)} bytes)."


def _str_replace(workspace: Workspace, file: Path, arguments: EditorArguments) -> str:
    old = _required(arguments.old_str, "old_str", "str_replace")
    new = arguments.new_str or ""
    require_text(new, "new_str")
    before = read(workspace, file)
    edited, line = replace_once(parse(before), old, new)
    return _save(workspace, file, before, edited, line, new.count("\n") + 1)


def _insert(workspace: Workspace, file: Path, arguments: EditorArguments) -> str:
    new = _required(arguments.new_str, "new_str", "insert")
    if arguments.insert_line is None:
        raise ToolFailure("`insert_line` is missing; insert needs the line after which to insert.")
    before = read(workspace, file)
    edited, line = insert_after(parse(before), arguments.insert_line, new)
    return _save(workspace, file, before, edited, line, new.count("\n") + 1)


def _undo_edit(workspace: Workspace, file: Path, arguments: EditorArguments) -> str:
    there = History.of(workspace, file).undo(file)
    name = workspace.name(file)
    return f"The last edit of {name} is taken back." if there else f"{name} is removed: its creation is taken back."


_COMMANDS: dict[EditorCommand, Callable[[Workspace, Path, EditorArguments], Content]] = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "undo_edit": _undo_edit,
}


def _save(workspace: Workspace, file: Path, before: bytes, edited: Document, line: int, count: int) -> str:
    content = edited.to_bytes()
    History.of(workspace, file).push(before, content)
    write_atomically(file, content)
    return f"Edited {workspace.name(file)}:\n{snippet(edited.lines, line, count)}"


def _required(text: str | None, argument: str, command: str) -> str:
    if text is None:
        raise ToolFailure(f"`{argument}` is missing; {command} needs it.")
    require_text(text, argument)
    return text
