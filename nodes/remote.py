"""submit, follow, ask, conclude: a task that an agent elsewhere does for us."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ..state.context import RunContext, can_ask, run_context
from ..state.errors import ToolFailure, UsageError
from ..state.messages import Fresh
from ..state.outcome import Outcome, Status, Usage
from ..state.question import Question
from ..state.remote import RemoteProgress, RemoteState, RemoteTask
from .equipment import agent_path
from .node import node, route
from .reply import fresh_id, text_of

if TYPE_CHECKING:  # an extra
    from contextlib import AbstractAsyncContextManager

    from ..tools.a2a.client import Remote

PATIENCE = 60.0
"""Seconds that an agent which has a task of ours has to come back when it cannot be reached."""

UNANSWERED = "unanswered"
"""State of a task that asks something while nobody is there to answer."""

NEXT = {"submitted": "follow", "working": "follow", "input_required": "ask"}
"""What follows each state that is not an end."""

NOBODY = "It asked a question and nobody is there to answer: "

STATUS: dict[str, Status] = {"completed": "finished", "canceled": "cancelled", "rejected": "rejected"}
"""Our status for each end of a remote task; any other end is an error."""


@dataclass(frozen=True)
class RemoteAgent:
    """Which agent the nodes speak to."""

    name: str
    """Its name here."""

    address: str
    """Where its card is found."""

    key: str
    """Key that it asks for; empty for none."""


def submit_node(agent: RemoteAgent) -> RunnableCallable:
    """The node that sends the newest message: the task, or the answer to a question."""

    async def submit(state: RemoteState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        newest, earlier = state["messages"][-1], state.get("remote")
        answers = earlier if earlier and earlier["state"] == "input_required" else None
        configurable = config.get("configurable", {})
        place = [configurable.get("thread_id"), configurable.get("checkpoint_ns"), newest.id, earlier and earlier["id"]]
        try:
            async with _reach(agent) as remote:
                from a2a.types import Part

                task = await remote.submit(
                    [Part(text=text_of(newest.content))],
                    sha256(json.dumps(place).encode()).hexdigest()[:32],
                    answers["id"] if answers else "",
                    earlier["context"] if earlier else "",
                )
        except ToolFailure as failure:
            task = RemoteTask(id="", context=earlier["context"] if earlier else "", state="failed", said=str(failure))
        return {"remote": _answerable(task, runtime), "status": "running", "outcome": None}

    return node(submit)


def follow_node(agent: RemoteAgent) -> RunnableCallable:
    """The node that waits for the agent; entered anew after a crash, it waits on."""

    async def follow(state: RemoteState, runtime: Runtime[RunContext]) -> dict[str, Any]:
        task = state["remote"]
        try:
            async with _reach(agent, PATIENCE) as remote:
                task = await remote.follow(task["id"], lambda said: runtime.stream_writer(_remark(said)))
        except ToolFailure as failure:
            task = {**task, "state": "failed", "said": str(failure)}
        return {"remote": _answerable(task, runtime)}

    return node(follow)


def ask_node(agent: RemoteAgent) -> RunnableCallable:
    """The node that asks the person what the agent asks."""

    async def ask(state: RemoteState, config: RunnableConfig) -> dict[str, Any]:
        answer = interrupt(_question(agent, state["remote"], [*agent_path(config), agent.name]))
        return {"messages": Fresh([HumanMessage(answer if isinstance(answer, str) else str(answer), id=fresh_id())])}

    return node(ask)


def conclude_node(agent: RemoteAgent) -> RunnableCallable:
    """The node that writes how the task ended."""

    async def conclude(state: RemoteState, runtime: Runtime[RunContext]) -> dict[str, Any]:
        task = state["remote"]
        said = f"{NOBODY}{task['said']}" if task["state"] == UNANSWERED else task["said"]
        status = STATUS.get(task["state"], "error")
        done = status == "finished"
        reason = "answer" if done else said or task["state"]
        iteration = run_context(runtime).iteration + 1
        return {
            "messages": Fresh([AIMessage(said or task["state"], id=fresh_id(), name=agent.name)]),
            "progress": RemoteProgress(steps=1, iteration=iteration, usage=Usage().model_dump()),
            "status": status,
            "outcome": Outcome(success=done, reason=reason, answer=said if done else ""),
        }

    return node(conclude)


def route_remote() -> RunnableCallable:
    """`follow` while the agent works, `ask` where it asks, else `conclude`."""

    async def after(state: RemoteState) -> str:
        return NEXT.get(state["remote"]["state"], "conclude")

    return route(after)


def _answerable(task: RemoteTask, runtime: Runtime[RunContext]) -> RemoteTask:
    return task if task["state"] != "input_required" or can_ask(runtime) else {**task, "state": UNANSWERED}


def _question(agent: RemoteAgent, task: RemoteTask, path: list[str]) -> Question:
    said = task["said"] or "It asks for more."
    return Question(
        kind="input", question=said, options=[], data={"agent": agent.address, "task": task["id"]}, path=path
    )


def _remark(said: str) -> dict[str, str]:
    return {"kind": "remark", "message": said}


def _reach(agent: RemoteAgent, patience: float = 0.0) -> AbstractAsyncContextManager[Remote]:
    try:
        from ..tools.a2a.client import open_remote
    except ModuleNotFoundError as error:
        raise UsageError(f"{agent.name} needs the package {error.name!r}: pip install 'clew[a2a,web]'") from error
    return open_remote(agent.address, agent.key, patience)
