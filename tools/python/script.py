"""Python code in a process of its own, for sandboxes that no warm worker can run in."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

from ..output import Output
from ..sandbox.local import LocalSandbox, converse
from ..workspace import PRIVATE_FOLDER
from . import runner
from .execution import Execution
from .figures import read_figures
from .worker import ENVIRONMENT


async def run_script(code: str, sandbox: LocalSandbox, output: Output, seconds: float) -> Execution:
    """Run `code` by the sandbox's own interpreter; after `seconds` it is killed with all that it started."""
    script = Path(runner.__file__)
    place = f"{PRIVATE_FOLDER}/figures-{uuid4().hex[:12]}"
    process = await sandbox.start((sys.executable, "-u", str(script), place), env=ENVIRONMENT, readable=[script])
    exit_code = await converse(process, code, output, seconds)
    return Execution(output, exit_code, await _figures(sandbox, place))


async def _figures(sandbox: LocalSandbox, place: str) -> list[bytes]:
    [file] = await sandbox.download_files([place])
    if not file.content:
        return []
    await sandbox.execute(f"rm -f {place}")
    return await asyncio.to_thread(_read, file.content)


def _read(content: bytes) -> list[bytes]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        return read_figures(file)
