"""The built-in graphs as `langgraph.json` names them: compiled, without a checkpointer, which the server attaches.

A server takes what a module holds and would enter a factory anew for every request, so this module builds its graphs
when it is imported, and nothing of clew imports it. The settings are read then; a model is loaded by the first run
that needs it, so that the server also starts without one.
"""

from __future__ import annotations

from .agent import create_agent
from .hub import create_hub
from .plan import create_plan_flow

manus = create_agent("manus")
planning = create_agent("planning")
browser = create_agent("browser")
data_analysis = create_agent("data_analysis")
swe = create_agent("swe")
code_act = create_agent("code_act")
read_only = create_agent("read_only")
repo_study = create_agent("repo_study")
verifier = create_agent("verifier")
hub = create_hub()
plan = create_plan_flow({"manus": "manus"})
