"""`terminate`: how an agent says that its task is over."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from .traits import Traits

TerminateStatus = Literal["success", "failure"]


class TerminateArguments(BaseModel):
    """Arguments of `terminate`."""

    status: TerminateStatus = Field(description="Whether the task was done, or cannot be.")
    answer: str = Field("", description="What the person is told at the end: the result, or why there is none.")
    outputs: dict[str, Any] = Field(
        default_factory=dict, description="Results as values by name, where the task asks for such."
    )


class Terminate(BaseTool):
    """End the task. The artifact is `{"status", "answer", "outputs"}`."""

    name: str = "terminate"
    description: str = (
        "End the task: with success when all of it is done and checked, with failure when you cannot go on. "
        "Call it alone, after the results of all other calls have come back."
    )
    args_schema: type[BaseModel] = TerminateArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=True, risk="low").metadata()

    def _run(self, status: TerminateStatus, answer: str, outputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        content = f"The interaction has been completed with status: {status}"
        return content, {"status": status, "answer": answer, "outputs": outputs}

    async def _arun(self, status: TerminateStatus, answer: str, outputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._run(status, answer, outputs)
