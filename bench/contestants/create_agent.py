"""LangChain's create_agent on the stock savers. Variants: `sync` (SqliteSaver, invoke), `async`."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_parts import model, tool
from stock_savers import main_on_stock_savers
from workload import SYSTEM, Job


def graph(job: Job, saver: Any) -> Any:
    return create_agent(model(job), [tool()], system_prompt=SYSTEM, checkpointer=saver)


main_on_stock_savers(graph)
