import asyncio
from dataclasses import dataclass, field

import pytest

from clew.tools.resources import ResourcePool, Scope, resources, scope_of


@dataclass
class Door:
    closed: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def close(self) -> None:
        self.closed += 1
        self.gone.set()


@dataclass
class Doors:
    """Opens doors and remembers them."""

    opened: list[Door] = field(default_factory=list)

    async def __call__(self) -> Door:
        await asyncio.sleep(0)
        self.opened.append(Door())
        return self.opened[-1]


async def visit(pool: ResourcePool, scope: Scope, doors: Doors, kind: str = "door", **options) -> Door:
    async with pool.use(scope, kind, doors, **options) as door:
        return door


def config(**configurable):
    return {"configurable": configurable}


def test_the_task_that_runs_a_call_is_no_part_of_its_scope():
    first = scope_of(config(thread_id="t", checkpoint_ns="act:1"))
    second = scope_of(config(thread_id="t", checkpoint_ns="act:2"))
    assert first == second == Scope("t", "")


def test_a_child_agent_has_a_scope_below_its_parents():
    parent = scope_of(config(thread_id="t", checkpoint_ns="act:1"))
    child = scope_of(config(thread_id="t", checkpoint_ns="delegate:7|act:1"))
    assert child == Scope("t", "delegate:7")
    assert parent.covers(child)
    assert not child.covers(parent)


def test_a_scope_does_not_cover_its_namesake_on_another_thread_or_a_longer_name():
    assert not Scope("t", "a:1").covers(Scope("u", "a:1"))
    assert not Scope("t", "a:1").covers(Scope("t", "a:12"))


def test_without_a_thread_the_scope_is_private_to_the_lease():
    assert scope_of(None, "x") == scope_of(config(), "x") != scope_of(None, "y")


async def test_a_resource_is_opened_once_however_many_ask_at_once():
    pool, doors = ResourcePool(), Doors()
    met = await asyncio.gather(*(visit(pool, Scope("t"), doors) for _ in range(20)))
    assert len(doors.opened) == 1
    assert all(door is doors.opened[0] for door in met)
    await pool.close_all()


async def test_closing_a_scope_closes_the_namespaces_below_it_and_nothing_else():
    pool, doors = ResourcePool(), Doors()
    for scope in (Scope("t"), Scope("t", "a:1"), Scope("t", "a:1|b:2"), Scope("u", "a:1")):
        await visit(pool, scope, doors)
    await pool.close(Scope("t", "a:1"))
    assert [door.closed for door in doors.opened] == [0, 1, 1, 0]
    await pool.close(Scope("t"))
    assert [door.closed for door in doors.opened] == [1, 1, 1, 0]
    await pool.close_all()
    assert [door.closed for door in doors.opened] == [1, 1, 1, 1]


async def test_one_kind_can_be_closed_alone():
    pool, doors = ResourcePool(), Doors()
    await visit(pool, Scope("t"), doors, "front")
    await visit(pool, Scope("t"), doors, "back")
    await pool.close(Scope("t"), "front")
    assert pool.kinds(Scope("t")) == ["back"]
    await pool.close_all()


async def test_a_lease_closes_what_it_opened_and_not_what_it_found_open():
    pool, doors = ResourcePool(), Doors()
    await visit(pool, Scope("t"), doors, owner="mine")
    await visit(pool, Scope("u"), doors, owner="theirs")
    await visit(pool, Scope("u"), doors, owner="mine")
    await pool.close_owned("mine")
    assert [door.closed for door in doors.opened] == [1, 0]
    await pool.close_all()


async def test_a_failed_opening_leaves_nothing_and_the_next_one_tries_again():
    pool, doors = ResourcePool(), Doors()

    async def stuck() -> Door:
        raise OSError("stuck")

    with pytest.raises(OSError, match="stuck"):
        await visit(pool, Scope("t"), stuck)
    assert len(pool) == 0
    assert await visit(pool, Scope("t"), doors) is doors.opened[0]
    await pool.close_all()


async def test_who_waits_for_a_resource_that_is_being_closed_gets_a_fresh_one():
    pool, doors, leave = ResourcePool(), Doors(), asyncio.Event()

    async def slow() -> Door:
        await leave.wait()
        return await doors()

    first = asyncio.create_task(visit(pool, Scope("t"), slow))
    await asyncio.sleep(0)
    closing = asyncio.create_task(pool.close(Scope("t")))
    await asyncio.sleep(0)
    late = asyncio.create_task(visit(pool, Scope("t"), doors))
    leave.set()
    await closing
    await first
    fresh = await late
    assert (await first).closed == 1
    assert fresh.closed == 0
    assert pool.kinds(Scope("t")) == ["door"]
    await pool.close_all()


async def test_one_that_will_not_close_does_not_keep_the_others_open():
    pool, doors = ResourcePool(), Doors()

    class Jammed(Door):
        async def close(self) -> None:
            raise OSError("jammed")

    async def jammed() -> Door:
        return Jammed()

    await visit(pool, Scope("t"), jammed, "jammed")
    await visit(pool, Scope("t"), doors)
    with pytest.raises(OSError, match="jammed"):
        await pool.close_all()
    assert [door.closed for door in doors.opened] == [1]


async def test_what_is_idle_for_too_long_is_closed_and_what_is_in_use_is_not():
    pool, doors = ResourcePool(), Doors()
    async with pool.use(Scope("t"), "used", doors, idle=0.0) as used:
        idle = await visit(pool, Scope("t"), doors, "idle", idle=0.0)
        await idle.gone.wait()
        assert used.closed == 0
    await used.gone.wait()
    assert len(pool) == 0


def test_when_the_event_loop_ends_everything_is_closed():
    doors = Doors()

    async def run() -> None:
        await visit(resources(), Scope("t"), doors)

    asyncio.run(run())
    assert [door.closed for door in doors.opened] == [1]


def test_a_resource_of_another_loop_is_never_handed_out():
    doors, pools = Doors(), []

    async def run() -> Door:
        pools.append(resources())
        assert resources() is pools[-1]
        return await visit(resources(), Scope("t"), doors)

    assert asyncio.run(run()) is not asyncio.run(run())
    assert pools[0] is not pools[1]
