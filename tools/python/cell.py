"""One execution in a kernel: what comes back over its channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .figures import MOST_FIGURES, figure_of

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient


class Cell:
    """Sends the code at once; `finish` collects until the kernel is idle again."""

    def __init__(self, client: AsyncKernelClient, code: str) -> None:
        self._client = client
        self._id = client.execute(code, allow_stdin=False)
        self._parts: list[str] = []
        self.exit_code = 0
        """0, or 1 after an exception, or what `sys.exit` was given."""

        self.leaving = False
        """Whether the code asked the kernel to end, by `exit()` or `sys.exit()`."""

        self.figures: list[bytes] = []
        """Figures that it showed, as PNGs."""

    @property
    def text(self) -> str:
        """What it displayed: values, and the traceback of an error."""
        return "".join(f"{part}\n" for part in self._parts)

    async def finish(self) -> None:
        """Collect what is published until the kernel is idle, then see how the code ended."""
        while True:
            message = await self._client.get_iopub_msg()
            if message["parent_header"].get("msg_id") != self._id:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            self._take(message["msg_type"], message["content"])
        await self._read_reply()

    def _take(self, kind: str, content: dict[str, Any]) -> None:
        if kind in ("display_data", "execute_result"):
            figure = figure_of(content["data"])
            if figure is None:
                self._parts.append(content["data"].get("text/plain", ""))
            elif len(self.figures) < MOST_FIGURES:
                self.figures.append(figure)
        elif kind == "error" and content["ename"] == "SystemExit":
            self._leave(content["evalue"])
        elif kind == "error":
            self._parts.append("\n".join(content["traceback"]))
            self.exit_code = 1

    def _leave(self, status: str) -> None:
        self.leaving = True
        if status.lstrip("-").isdigit():
            self.exit_code = int(status) & 0xFF
        elif status not in ("", "None"):
            self._parts.append(status)
            self.exit_code = 1

    async def _read_reply(self) -> None:
        while True:
            reply = await self._client.get_shell_msg()
            if reply["parent_header"].get("msg_id") == self._id:
                break
        self.leaving |= any(payload["source"] == "ask_exit" for payload in reply["content"].get("payload", []))
