"""The built-in graphs as `langgraph.json` names them: compiled, without a checkpointer, which the server attaches.

A server takes what a module holds and would enter a factory anew for every request, so this module builds its graphs
when it is imported, and nothing of clew imports it. The settings are read then; a model is loaded by the first run
that needs it, so that the server also starts without one.
"""

from __future__ import annotations

from .agent import create_agent
from .plan import create_plan_flow

manus = create_agent("manus")
planning = create_agent("planning")
browser = create_agent("browser")
plan = create_plan_flow({"manus": "manus"})
