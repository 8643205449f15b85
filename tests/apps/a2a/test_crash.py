"""A server that is killed in the middle of a task takes it up when it is started again."""

from __future__ import annotations

import asyncio

from a2a.types import GetTaskRequest
from a2a_peer import client_of, message, said, send_for_task, state


async def until(condition):
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - the server is another process
            await asyncio.sleep(0.05)


async def test_tasks_at_work_and_tasks_that_wait_survive_a_kill(start, tmp_path):
    async with start() as (process, url), client_of(url, streaming=False) as client:
        waiting = await send_for_task(client, message("ask me"))
        working = await send_for_task(client, message("take your time"), at_once=True)
        await until(lambda: asyncio.to_thread((tmp_path / "begun").exists))
        process.kill()
        await process.wait()
    async with start() as (process, url), client_of(url, streaming=False) as client:

        async def over():
            return state(await client.get_task(GetTaskRequest(id=working.id))) == "completed"

        await until(over)
        task = await client.get_task(GetTaskRequest(id=working.id))
        assert said(task) == "Done."
        assert any("started again" in part.text for each in task.history for part in each.parts)
        assert (tmp_path / "begun").read_text() == "x\n"
        assert state(await send_for_task(client, message("this", task=waiting.id))) == "completed"
