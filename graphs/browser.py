"""The browser agent (seed ``agent-system.rst``): the agent graph with a look at the page before each step.

::

    START → observe_browser → think → act → observe_browser …

`observe_browser` puts the live page, and for a model that sees a picture of it, into the request and never into the
history. What the agent must remember it writes into its replies, which have a line for the evaluation of its last
action, one for its memory and one for its next goal.
"""

from __future__ import annotations

from ..state.spec import AgentSpec

BROWSER = AgentSpec(
    name="browser",
    description="Works on the web with a real browser: finds, reads, fills in forms, downloads.",
    system_prompt="prompt:browser_system",
    next_step_prompt="prompt:browser_next_step",
    tools=("browser_use", "ask_human", "terminate"),
    context=("browser",),
    max_steps=20,
    max_observe=10_000,
)
