"""Pytest plugin: the environment that every test and every process started by a test runs under.

Loaded before anything imports LangGraph, which reads the first of these once, at import.
"""

from __future__ import annotations

import os

VARIABLES = {
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "LANGSMITH_TRACING": "false",
    "PYTHONHASHSEED": "random",
}
"""Set for all tests."""

PREFIX = "CLEW_"
"""Settings of the person who runs the tests, which no test may see."""

for name in [name for name in os.environ if name.startswith(PREFIX)]:
    del os.environ[name]
os.environ.update(VARIABLES)
