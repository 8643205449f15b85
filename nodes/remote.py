"""submit, follow, ask, conclude: a task that an agent elsewhere does for us."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ..state.context import RunContext, can_ask, run_context
from ..state.errors import ToolFailure, UsageError
from ..state.inbox import InboxPlace
from ..state.messages import Fresh
from ..state.outcome import Outcome, Status, Usage
from ..state.question import Question
from ..state.remote import AT_WORK, OPEN, RemoteProgress, RemoteState, RemoteTask
from .equipment import agent_path
from .node import node, route
from .reply import fresh_id, text_of
from .stopping import Stopped, stoppable

if TYPE_CHECKING:  # an extra
    from contextlib import AbstractAsyncContextManager

    from ..tools.a2a.client import Remote

LOGGER = logging.getLogger("clew.a2a")

PATIENCE = 60.0
"""Seconds that an agent which has a task of ours has to come back when it cannot be reached."""

LATE = 5.0
"""Seconds that an agent has to say which task it has begun, once the run is stopped."""

UNANSWERED = "unanswered"
"""State of a task that asks something while nobody is there to answer."""

STOPPED = "stopped"
"""State of a task that a person stopped here."""

WITHDRAWN = "withdrawn"
"""State of a task that was cancelled there when the run was paused here: the agent is given it anew."""

NEXT = {**dict.fromkeys(AT_WORK, "follow"), "input_required": "ask", WITHDRAWN: "submit"}
"""What follows each state that is not an end."""

NOBODY = "It asked a question and nobody is there to answer: "

STATUS: dict[str, Status] = {
    "completed": "finished",
    "canceled": "cancelled",
    STOPPED: "cancelled",
    "rejected": "rejected",
}
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
    """The node that sends the newest message, the task or the answer to a question; or the task once more."""

    async def submit(state: RemoteState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        sent, earlier = _message(state), state.get("remote")
        answers = earlier if earlier and earlier["state"] == "input_required" else None
        # A message whose answer was lost has no task here; sent again under its id, it is not a second one there.
        before = earlier["id"] if earlier and earlier["id"] else None
        configurable = config.get("configurable", {})
        place = [configurable.get("thread_id"), configurable.get("checkpoint_ns"), sent.id, before]
        try:
            async with _reach(agent) as remote:
                from a2a.types import Part

                sending = remote.submit(
                    [Part(text=text_of(sent.content))],
                    sha256(json.dumps(place).encode()).hexdigest()[:32],
                    answers["id"] if answers else "",
                    earlier["context"] if earlier else "",
                )
                task = await _unless_stopped(agent, sending)
        except ToolFailure as failure:
            task = RemoteTask(id="", context=earlier["context"] if earlier else "", state="failed", said=str(failure))
        if task["state"] == "canceled" and not (earlier and earlier["state"] == WITHDRAWN):
            task["state"] = WITHDRAWN  # it was begun by a submit that a person stopped
        task["agent"] = agent.address
        task["asked"] = answers.get("asked", "") if answers else sent.id or ""
        return {"remote": _answerable(task, runtime), "status": "running", "outcome": None}

    return node(submit)


def follow_node(agent: RemoteAgent) -> RunnableCallable:
    """The node that waits for the agent; entered anew after a crash, it waits on. A stop cancels the task there too."""

    async def follow(state: RemoteState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        task, context = state["remote"], run_context(runtime)
        if task["id"] in context.withdrawn:
            return {"remote": {**task, "state": WITHDRAWN, "said": ""}}
        place = _place(state, context)
        try:
            async with stoppable(config, place), _reach(agent, PATIENCE) as remote:
                found = await remote.follow(task["id"], lambda said: runtime.stream_writer(_told("remark", said)))
                task = {**task, **found}
        except ToolFailure as failure:
            task = {**task, "state": "failed", "said": str(failure)}
        except Stopped as stop:
            if left := await _withdraw(agent, task["id"]):
                runtime.stream_writer(_told("notice", left))
            progress = _progress(context, {**place, "orders": stop.number})
            return {"remote": {**task, "state": STOPPED, "said": ""}, "progress": progress}
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
        context = run_context(runtime)
        return {
            "messages": Fresh([AIMessage(said or task["state"], id=fresh_id(), name=agent.name)]),
            "progress": _progress(context, _place(state, context)),
            "status": status,
            "outcome": Outcome(success=done, reason=reason, answer=said if done else ""),
        }

    return node(conclude)


def route_remote() -> RunnableCallable:
    """`follow` while the agent works, `ask` where it asks, `submit` where it was withdrawn, else `conclude`."""

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


def _message(state: RemoteState) -> AnyMessage:
    """What is to be sent: the newest message, or, where that was done and the task is to be done anew, the task."""
    newest, earlier = state["messages"][-1], state.get("remote")
    if earlier is None or not (earlier["state"] == WITHDRAWN or isinstance(newest, AIMessage)):
        return newest
    asked = earlier.get("asked")
    tasks: list[AnyMessage] = [each for each in state["messages"] if isinstance(each, HumanMessage)]
    return next((each for each in tasks if each.id == asked), (tasks or [newest])[-1])


def _told(kind: str, said: str) -> dict[str, str]:
    return {"kind": kind, "message": said}


def _place(state: RemoteState, context: RunContext) -> InboxPlace:
    """How far the inbox was acted on: by this agent, or by the run before it began."""
    progress = state.get("progress")
    return progress.get("inbox", context.inbox) if progress else context.inbox


def _progress(context: RunContext, place: InboxPlace) -> RemoteProgress:
    return RemoteProgress(steps=1, iteration=context.iteration + 1, usage=Usage().model_dump(), inbox=place)


async def _unless_stopped(agent: RemoteAgent, sending: Coroutine[Any, Any, RemoteTask]) -> RemoteTask:
    """The task that is begun. Where the run is stopped meanwhile, it is cancelled as soon as its id is known."""
    begun = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        await asyncio.wait({begun}, timeout=LATE)
        if not begun.done() or begun.exception():
            begun.cancel()
            LOGGER.warning("a task may go on at %s, which did not say whether it has begun", agent.address)
        elif begun.result()["state"] in OPEN and (left := await _withdraw(agent, begun.result()["id"])):
            LOGGER.warning(left)  # nobody reads the stream of a run that was stopped
        raise


async def _withdraw(agent: RemoteAgent, task: str) -> str:
    from ..tools.a2a.withdraw import withdraw

    return await withdraw(agent.address, agent.key, task)


def _reach(agent: RemoteAgent, patience: float = 0.0) -> AbstractAsyncContextManager[Remote]:
    try:
        from ..tools.a2a.client import open_remote
    except ModuleNotFoundError as error:
        raise UsageError(f"{agent.name} needs the package {error.name!r}: pip install 'clew[a2a,web]'") from error
    return open_remote(agent.address, agent.key, patience)
