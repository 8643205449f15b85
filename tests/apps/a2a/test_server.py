from __future__ import annotations

import asyncio

from clew.apps.a2a.card import agent_card
from clew.apps.a2a.server import open_app
from clew.apps.a2a.threads import AgentThreads
from clew.apps.session import open_session
from clew.graphs import AGENTS


async def test_an_app_that_closes_while_it_looks_for_unfinished_tasks_leaves_nothing_at_work(settings):
    card = agent_card(AGENTS["manus"], "http://127.0.0.1:1", keys=False)
    before = asyncio.all_tasks()
    async with open_session(settings) as session:
        for pauses in range(20):
            async with open_app(AgentThreads(session, AGENTS["manus"]), card, settings):
                for _ in range(pauses):
                    await asyncio.sleep(0)
            assert asyncio.all_tasks() == before
