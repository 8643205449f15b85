"""Events from messages, and the messages that actions stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from pydantic import ValidationError

from .action import Action
from .actions import (
    AgentDelegateAction,
    AgentFinishAction,
    AgentRejectAction,
    BrowseURLAction,
    CmdRunAction,
    FileEditAction,
    FileReadAction,
    FileWriteAction,
    IPythonRunCellAction,
    MessageAction,
    ToolCallAction,
)
from .event import NOWHERE
from .observations import (
    AgentDelegateObservation,
    BrowserOutputObservation,
    CmdOutputObservation,
    ErrorObservation,
    FileReadObservation,
    FileWriteObservation,
    Observation,
    SuccessObservation,
)
from .task_actions import AddTaskAction, ModifyTaskAction

ACTIONS: tuple[type[Action], ...] = (
    CmdRunAction,
    IPythonRunCellAction,
    FileReadAction,
    FileWriteAction,
    FileEditAction,
    BrowseURLAction,
    AddTaskAction,
    ModifyTaskAction,
    AgentDelegateAction,
    AgentFinishAction,
    AgentRejectAction,
    MessageAction,
    ToolCallAction,
)
"""Every action. Of those that a tool does, the first that a call fits is the one that it is."""

OBSERVATIONS: tuple[type[Observation], ...] = (
    CmdOutputObservation,
    BrowserOutputObservation,
    FileReadObservation,
    FileWriteObservation,
    ErrorObservation,
    SuccessObservation,
    AgentDelegateObservation,
)
"""Every observation."""

ACTION = "action"
"""Key of a reply's `response_metadata` with the action it was made of, where its call says less."""


def history_events(messages: Sequence[AnyMessage]) -> list[Action | Observation]:
    """The actions and observations of a history, each with its place; what a model only needs to know is left out."""
    events: list[Action | Observation] = []
    places: dict[str, int] = {}
    for message in messages:
        for event in _events(message, places):
            if event.call_id and isinstance(event, Action):
                places[event.call_id] = len(events)
            events.append(event.model_copy(update={"id": len(events)}))
    return events


def replies_of(actions: Iterable[Action]) -> list[AIMessage]:
    """The replies of a model that ask for these actions of an agent, those of one reply together."""
    numbered = enumerate(actions)
    groups = groupby(numbered, key=lambda item: item[1].reply_id or item[0])
    return [_reply([action for _, action in group]) for _, group in groups]


def action_of_call(call: ToolCall | Mapping[str, Any], **head: Any) -> Action:
    """The action that a tool call is: `ToolCallAction` where none is made for it, or its arguments are malformed."""
    name, arguments = call["name"], call["args"]
    head = {**head, "call_id": call.get("id") or ""}
    for kind in ACTIONS:
        if name not in kind.tools:
            continue
        try:
            action = kind.from_call(name, arguments, **head)
        except ValueError:  # pydantic's errors too: the call is another action, or malformed
            continue
        if action.tool == name and action.call_arguments() == {**kind.absent, **arguments}:
            return action
    return ToolCallAction(name=name, arguments=dict(arguments), **head)


def call_of_action(action: Action) -> ToolCall:
    """The tool call that does an action.

    `action_of_call` gives the action of a call back, and this the call of that action, but for an argument that a
    tool takes in any case.
    """
    return ToolCall(name=action.tool, args=action.call_arguments(), id=action.call_id, type="tool_call")


def observation_of(message: ToolMessage, **head: Any) -> Observation:
    """The observation that a tool's message is."""
    head |= {"call_id": message.tool_call_id, "tool": message.name or "", "content": message.text, **_pictures(message)}
    said = message.artifact if isinstance(message.artifact, dict) else {"artifact": message.artifact}
    details = {key: value for key, value in said.items() if value is not None or key != "artifact"}
    if message.status == "error":
        return ErrorObservation.model_validate({**head, **_details(details)})
    kind, fields = _kind_of(message.name or "", details)
    own = kind.model_fields.keys() - Observation.model_fields.keys()
    known = {key: value for key, value in fields.items() if key in own}
    rest = {key: value for key, value in fields.items() if key not in own}
    try:
        return kind.model_validate({**known, **head, **_details(rest)})
    except ValidationError:  # a tool of the same name with an artifact of another shape
        return SuccessObservation.model_validate({**head, **_details(details)})


def _kind_of(tool: str, artifact: dict[str, Any]) -> tuple[type[Observation], dict[str, Any]]:
    match tool:
        case "bash" | "python_execute" if "exit_code" in artifact:
            return CmdOutputObservation, artifact
        case "browser_use" if "action" in artifact:
            names = {"action": "browser_action", "state": "page_state"}
            return BrowserOutputObservation, {names.get(key, key): value for key, value in artifact.items()}
        case "web_fetch" if "url" in artifact:
            return BrowserOutputObservation, artifact
        case "str_replace_editor" if artifact.get("command") == "view":
            return FileReadObservation, {"path": artifact.get("path")}
        case "str_replace_editor" if "path" in artifact:
            return FileWriteObservation, {key: value for key, value in artifact.items() if key != "changed"}
        case "delegate":
            return AgentDelegateObservation, artifact
    return SuccessObservation, artifact


def _events(message: AnyMessage, places: Mapping[str, int]) -> Iterator[Action | Observation]:
    if isinstance(message, AIMessage):
        yield from _actions(message)
    elif isinstance(message, ToolMessage):
        yield observation_of(message, cause=places.get(message.tool_call_id, NOWHERE))
    elif isinstance(message, HumanMessage) and not message.additional_kwargs.get("note"):
        said = {"content": message.text, "source": "user", "reply_id": message.id or "", **_pictures(message)}
        said |= {"in_passing": True} if message.additional_kwargs.get("said") else {}
        yield MessageAction.model_validate(said)


def _actions(reply: AIMessage) -> Iterator[Action]:
    head: dict[str, Any] = {"reply_id": reply.id} if reply.id else {}
    if isinstance(made := reply.response_metadata.get(ACTION), Mapping):
        yield _made_action(reply, made, head)
        return
    if not reply.tool_calls:
        yield MessageAction(content=reply.text, **head)
    for place, call in enumerate(reply.tool_calls):
        thought = {"thought": reply.text} if reply.text and not place else {}
        yield action_of_call(call, **head, **thought)


def _made_action(reply: AIMessage, made: Mapping[str, Any], head: dict[str, Any]) -> Action:
    kinds = {kind.model_fields["action"].default: kind for kind in ACTIONS}
    head |= {"call_id": reply.tool_calls[0]["id"]} if reply.tool_calls else {}
    return kinds[made["action"]].model_validate({**made["args"], **head})


def _reply(actions: Sequence[Action]) -> AIMessage:
    text = "\n\n".join(action.thought for action in actions if action.thought)
    words = [action.content for action in actions if isinstance(action, MessageAction) and not action.tool]
    calls = [call_of_action(action) for action in actions if action.tool]
    return AIMessage("\n\n".join([text, *words] if text else words), tool_calls=calls)


def _pictures(message: AnyMessage) -> dict[str, Any]:
    blocks = [] if isinstance(message.content, str) else message.content
    images = [block for block in blocks if isinstance(block, dict) and block.get("type") != "text"]
    return {"images": images} if images else {}


def _details(rest: dict[str, Any]) -> dict[str, Any]:
    return {"details": rest} if rest else {}
