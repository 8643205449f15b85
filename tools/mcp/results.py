"""The result of an MCP call as the content and the artifact of a tool message."""

from __future__ import annotations

import asyncio
import json
import mimetypes
from base64 import b64decode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..image_blocks import Content, image_block, with_images
from ..workspace import Workspace

if TYPE_CHECKING:  # the SDK is slow to import
    from mcp_types import BlobResourceContents, CallToolResult, ContentBlock, TextResourceContents

FOLDER = "mcp"
"""Folder, inside the workspace's private one, of what no model is shown as it is: sounds and other files."""


async def result_content(result: CallToolResult, workspace: Workspace) -> tuple[Content, dict[str, Any]]:
    """The content that the model sees, and the artifact: plain JSON with the structured part of the result."""
    content = await blocks_content(result.content, workspace)
    structured = result.structured_content
    if not content and structured is not None:
        content = json.dumps(structured, ensure_ascii=False)
    return content, {"structured_content": structured}


async def blocks_content(blocks: Sequence[ContentBlock], workspace: Workspace) -> Content:
    """The blocks as one text and the pictures after it; other data are kept in files, which the text names."""
    texts, images = [], []
    for block in blocks:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "image":
            images.append(_image(block.data, block.mime_type))
        elif block.type == "audio":
            texts.append(await _kept("audio", block.data, block.mime_type, workspace))
        elif block.type == "resource_link":
            about = f": {block.description}" if block.description else ""
            texts.append(f"[resource {block.name} at {block.uri}{about}]")
        else:
            text, picture = await resource_content(block.resource, workspace)
            texts += [text] if text else []
            images += picture
    return with_images("\n".join(texts), images)


async def resource_content(
    resource: TextResourceContents | BlobResourceContents, workspace: Workspace
) -> tuple[str, list[dict[str, Any]]]:
    """The text of one resource, or where it is kept, and its picture if it is one."""
    mime_type = resource.mime_type or "application/octet-stream"
    if not hasattr(resource, "blob"):
        return f"[resource {resource.uri}]\n{resource.text}", []
    if mime_type.startswith("image/"):
        return f"[resource {resource.uri}]", [_image(resource.blob, mime_type)]
    return await _kept(f"resource {resource.uri}", resource.blob, mime_type, workspace), []


def _image(data: str, mime_type: str) -> dict[str, Any]:
    return image_block(b64decode(data), mime_type)


async def _kept(what: str, data: str, mime_type: str, workspace: Workspace) -> str:
    content = b64decode(data)
    path = await asyncio.to_thread(_keep, content, mime_type, workspace)
    return f"[{what}: {mime_type}, {len(content)} bytes, kept in {workspace.name(path)}]"


def _keep(content: bytes, mime_type: str, workspace: Workspace) -> Path:
    name = f"{sha256(content).hexdigest()[:16]}{mimetypes.guess_extension(mime_type) or '.bin'}"
    path = workspace.private(FOLDER, name)
    path.write_bytes(content)
    return path
