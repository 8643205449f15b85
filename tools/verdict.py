"""`verdict`: how a verifying agent ends, so that its judgement always has the same form."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from .traits import Traits


class VerdictArguments(BaseModel):
    """Arguments of `verdict`."""

    completed: bool = Field(description="Whether all that the task asks for is done, as far as you saw it yourself.")
    summary: str = Field(
        min_length=1, description="What you checked and what it showed; if not completed, what is still to be done."
    )


class Verdict(BaseTool):
    """End the task with a judgement. The artifact is that of `terminate`, with `completed` and `summary` as outputs."""

    name: str = "verdict"
    description: str = "Give your verdict and end. Call it alone, when you have checked all that you can check."
    args_schema: type[BaseModel] = VerdictArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=True, risk="low").metadata()

    def _run(self, completed: bool, summary: str) -> tuple[str, dict[str, Any]]:
        outputs = {"completed": completed, "summary": summary}
        content = f"The verdict: {'completed' if completed else 'not completed'}. {summary}"
        return content, {"status": "success", "answer": summary, "outputs": outputs}

    async def _arun(self, completed: bool, summary: str) -> tuple[str, dict[str, Any]]:
        return self._run(completed, summary)
