"""observe_browser: the live page goes into the request, with a picture for a model that sees."""

from __future__ import annotations

from itertools import islice

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..models.profile import sees_images
from ..prompts.load import load_prompt
from ..state.agent import AgentState
from ..state.context import RunContext, run_context
from ..state.errors import ClewError
from ..tools.image_blocks import image_block, with_images
from ..tools.run_services import Observable, Observation
from .equipment import Equipment, agent_path
from .node import node
from .payloads import with_references
from .progress import current_progress
from .services import call_services, newest_saved
from .tool_config import tool_config

TOOL = "browser_use"
"""Name of the tool whose page is shown."""

RECENT_STEPS = 3
"""Steps within which a use of the browser makes a general agent see its page (seed ``agent-system.rst``, Manus)."""


def observe_browser_node(equipment: Equipment) -> RunnableCallable:
    """The context node of the browser's page: seed ``agent-system.rst``, BrowserAgent."""

    async def observe_browser(
        state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> dict[str, list[AnyMessage]]:
        message: AnyMessage = HumanMessage(load_prompt("no_page"))
        if observation := await _observe(state, equipment, config, runtime):
            pictures = [image_block(observation.image, "image/jpeg")] if observation.image else []
            text = load_prompt("live_page", page=observation.text)
            message = await with_references(HumanMessage(with_images(text, pictures)), config)  # type: ignore[arg-type]
        return {"context": [*(state.get("context") or []), message]}

    return node(observe_browser)


def browser_in_use(state: AgentState) -> bool:
    """Whether one of the newest steps called the browser."""
    replies = (message for message in reversed(state["messages"]) if isinstance(message, AIMessage))
    return any(call["name"] == TOOL for reply in islice(replies, RECENT_STEPS) for call in reply.tool_calls)


async def _observe(
    state: AgentState, equipment: Equipment, config: RunnableConfig, runtime: Runtime[RunContext]
) -> Observation | None:
    tool, history = equipment.tools.get(TOOL), state["messages"]
    if not isinstance(tool, Observable):
        return None
    model = await equipment.models.chat_model(run_context(runtime))
    services = call_services(config, saved=newest_saved(history, TOOL))
    task = history[current_progress(state, run_context(runtime))["task"]].id or ""
    own_config = tool_config(
        config,
        task=task,
        workspace=equipment.workspace_of(runtime),
        path=[*agent_path(config), equipment.spec.name],
        services=services,
    )
    try:
        return await tool.observe(own_config, picture=sees_images(model))
    except ClewError as error:
        return Observation(f"The page cannot be shown: {error}")
