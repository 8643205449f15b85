"""act: one tool call, as a task with its own checkpointed result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph._internal._runnable import RunnableCallable
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from pydantic import ValidationError

from ..prompts.load import load_prompt
from ..state.agent import AgentState, ToolTask
from ..state.context import RunContext
from ..state.errors import ToolFailure
from ..state.messages import Fresh
from ..state.metrics import DIGITS, SECONDS
from ..state.plan import Plan
from ..state.plan_operation import dump_operations
from ..tools.board_plans import PlanBoard
from ..tools.delegate import DELEGATE
from ..tools.plans import planned_operations
from ..tools.traits import traits_of
from .arguments import problems_of
from .check_stuck import needs_check
from .context import Begin
from .equipment import Equipment, agent_path
from .node import node, route
from .observation import observed
from .once import run_once
from .outputs import restore_outputs
from .payloads import with_references
from .reply import INVALID_ARGUMENTS, fresh_id
from .services import CountedModel, call_services
from .stopping import Stopped, stoppable
from .tool_config import tool_config

STOPPED = "a person stopped the run before the call ended; it may have taken effect in part."


def act_node(equipment: Equipment) -> RunnableCallable:
    """The node that runs one tool call and answers it, whatever happens."""

    async def act(task: ToolTask, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        call, workspace = task["call"], equipment.workspace_of(runtime)
        path = [*agent_path(config), equipment.spec.name]
        model = CountedModel(equipment, config, runtime)
        services = call_services(config, saved=task.get("saved"), ask=model.ask)
        own_config = tool_config(
            with_plan(config, task), task=task["task"], workspace=workspace, path=path, services=services
        )
        tools = (await equipment.toolbox_of(own_config)).tools
        if refusal := _refusal(call, equipment, tools):
            return {"messages": Fresh([_failure(call, refusal)])}
        tool = tools[call["name"]]

        async def run() -> ToolMessage:
            begun = perf_counter()
            if "outputs" in task:
                await restore_outputs(task["outputs"], workspace, config, services)
            result = await _run(tool, call, own_config, equipment.spec.tool_timeout)
            result = await with_references(result, config)
            observation = model.noted(await observed(result, equipment.spec.max_observe, workspace, services))
            took = {SECONDS: round(perf_counter() - begun, DIGITS)}
            metadata = {**observation.response_metadata, **took}
            return observation.model_copy(update={"id": fresh_id(), "response_metadata": metadata})

        def interrupted() -> ToolMessage:
            return _failure(call, load_prompt("unanswered_call"))

        may_repeat = traits_of(tool).idempotent
        try:
            async with stoppable(config, task.get("inbox")):
                observation = await (
                    run()
                    if may_repeat
                    else run_once(config, runtime.execution_info, call["id"] or "", run, interrupted)
                )
        except Stopped:
            observation = _failure(call, STOPPED)
        operations = dump_operations(planned_operations([observation])) if "plan" in task else []
        messages = Fresh([observation])
        return {"messages": messages, "plan": operations} if operations else {"messages": messages}

    return node(act)


def route_act(equipment: Equipment, begin: Begin) -> RunnableCallable:
    """What begins the next step, after a call that ends this one and leaves nothing to do; else `check_stuck`."""

    async def after_act(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> str:
        return "check_stuck" if await needs_check(state, equipment, config, runtime) else begin(state)

    return route(after_act)


def with_plan(config: RunnableConfig, task: ToolTask) -> RunnableConfig:
    """The config with the thread's plan on a board, for a call of `planning`."""
    if "plan" not in task:
        return config
    board = PlanBoard(Plan.model_validate(task["plan"]) if task["plan"] else None)
    return {**config, "configurable": {**config.get("configurable", {}), **board.entry()}}


async def _run(tool: BaseTool, call: ToolCall, config: RunnableConfig, seconds: float) -> ToolMessage:
    try:
        async with asyncio.timeout(seconds):
            result = await tool.ainvoke({**call, "type": "tool_call"}, config)
    except GraphBubbleUp:
        raise
    except ValidationError as error:
        return _failure(call, f"wrong arguments for `{tool.name}`: {problems_of(error)}. It takes: {_arguments(tool)}.")
    except TimeoutError:
        return _failure(call, f"`{tool.name}` did not end within {seconds:g} seconds and was stopped.")
    except ToolException as error:
        artifact = error.artifact if isinstance(error, ToolFailure) else None
        return _failure(call, str(error)).model_copy(update={"artifact": artifact})
    except Exception as error:  # a tool may raise anything, and the model is to hear of it and go on
        return _failure(call, f"`{tool.name}` failed: {type(error).__name__}: {error}")
    if isinstance(result, ToolMessage):
        return result
    return ToolMessage(str(result), tool_call_id=call["id"] or "", name=tool.name)


def _refusal(call: ToolCall, equipment: Equipment, tools: Mapping[str, BaseTool]) -> str:
    if call["name"] == DELEGATE and equipment.spec.delegates and not equipment.delegates:
        return "this task was delegated as often as tasks may be; do it yourself, or end it with what you have."
    if call["name"] not in tools or equipment.spec.tool_choice == "none":
        return f"there is no tool `{call['name']}`. The tools are: {', '.join(tools) or 'none'}."
    if INVALID_ARGUMENTS in call["args"]:
        arguments = _arguments(tools[call["name"]])
        return f"the arguments of `{call['name']}` were not valid JSON. It takes a JSON object with: {arguments}."
    return ""


def _failure(call: ToolCall, sentence: str) -> ToolMessage:
    identifier = call["id"] or ""
    return ToolMessage(f"Error: {sentence}", tool_call_id=identifier, name=call["name"], id=fresh_id(), status="error")


def _arguments(tool: BaseTool) -> str:
    required = convert_to_openai_tool(tool)["function"]["parameters"].get("required", [])
    return ", ".join(name if name in required else f"{name} (optional)" for name in tool.args) or "no arguments"
