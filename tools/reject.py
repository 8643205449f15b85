"""`reject`: how an agent says that it will not do its task, and why."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from .traits import Traits


class RejectArguments(BaseModel):
    """Arguments of `reject`."""

    reason: str = Field(min_length=1, description="Why the task is turned down: what is wrong with it, or not allowed.")
    outputs: dict[str, Any] = Field(
        default_factory=dict, description="What was found all the same, as values by name that the asker can use."
    )


class Reject(BaseTool):
    """End the task as rejected (the seed's AgentRejectAction). The artifact is `{"status", "reason", "outputs"}`."""

    name: str = "reject"
    description: str = (
        "Turn the task down and end it, because it cannot or must not be done as it was asked for. For a task that you "
        "tried and failed, end with `terminate` instead. Call it alone."
    )
    args_schema: type[BaseModel] = RejectArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=True, risk="low").metadata()

    def _run(self, reason: str, outputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"The task has been rejected: {reason}", {"status": "rejected", "reason": reason, "outputs": outputs}

    async def _arun(self, reason: str, outputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._run(reason, outputs)
