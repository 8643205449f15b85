"""`delegate`: give a part of the task to another agent. The graph runs that agent in a node of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NoReturn

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field, create_model

from ..state.errors import ToolFailure
from .traits import Traits

DELEGATE = "delegate"
"""Name of the tool, and the first part of the names of the nodes that run the agents."""


class DelegateArguments(BaseModel):
    """Arguments of `delegate`."""

    agent: str = Field(description="Name of the agent that is to do it.")
    task: str = Field(
        min_length=1,
        description="What is to be done and what is to come back. The agent knows nothing else of this conversation.",
    )
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Values by name that the agent needs, such as paths and addresses."
    )


class Delegate(BaseTool):
    """Give a part of the task to another agent and wait for what comes of it.

    The artifact of the answer is a dump of `DelegateReport`. A call that reaches the tool itself names no agent that
    there is: the graph sends all others to the nodes of their agents.
    """

    name: str = DELEGATE
    description: str = (
        "Give a part of the task to another agent, which works on its own with tools of its own, in the same "
        "workspace, and answers once. Calls in the same message run at the same time."
    )
    args_schema: type[BaseModel] = DelegateArguments
    metadata: dict[str, Any] | None = Traits(parallel=True, idempotent=True, risk="low").metadata()

    def _run(self, agent: str, task: str, inputs: dict[str, Any]) -> NoReturn:
        raise ToolFailure(f"there is no agent {agent!r} to delegate to; do it yourself.")

    async def _arun(self, agent: str, task: str, inputs: dict[str, Any]) -> NoReturn:
        self._run(agent, task, inputs)


def delegate_tool(agents: Mapping[str, str]) -> Delegate:
    """The tool for these agents, given by name with what each is for."""
    names = list(agents)
    listed = "\n".join(f"- `{name}`: {purpose}" for name, purpose in agents.items())
    name: Any = Literal[tuple(names)]  # which names there are is known when a graph is made
    described: Any = Field(description="Name of the agent that is to do it.")
    return Delegate(
        description=f"{Delegate.model_fields['description'].default} The agents:\n{listed}",
        args_schema=create_model("DelegateArguments", __base__=DelegateArguments, agent=(name, described)),
    )
