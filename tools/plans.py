"""Where a `planning` tool reads plans, and what becomes of the changes that it makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.config import get_config, get_store

from ..state.errors import PlanError, UsageError
from ..state.plan import Plan, ToolExecution
from ..state.plan_fold import apply_operations
from ..state.plan_operation import (
    ClosePlan,
    OpenPlan,
    PlanOperation,
    StepOperation,
    dump_operations,
    read_operations,
)

if TYPE_CHECKING:  # only a tool on its own opens a library
    from ..checkpoints.plans import PlanLibrary

Edit = Callable[[Plan], Sequence[StepOperation]]
"""Works out what is to change in a plan."""


@dataclass(frozen=True)
class Change:
    """What one command did to one plan."""

    plan: Plan
    """The plan with the change, or the one that was deleted."""

    operations: list[PlanOperation] = field(default_factory=list)
    """What the graph is still to fold into its state; empty where the change is made already."""

    def artifact(self) -> dict[str, Any]:
        """As the tool's message carries it: `{"plan_id", "operations"}`, plain JSON."""
        return {"plan_id": self.plan.id, "operations": dump_operations(self.operations)}


class Plans(Protocol):
    """The plans that a `planning` tool works on. Every method raises `PlanError` for a plan that there is not."""

    @property
    def idempotent(self) -> bool:
        """Whether making the same change twice is the same as making it once."""
        ...

    async def list(self) -> tuple[Sequence[Plan], str | None]:
        """All plans, and the id of the active one."""
        ...

    async def get(self, plan_id: str | None) -> Plan:
        """One plan; None means the active one."""
        ...

    async def create(self, plan: Plan) -> Change:
        """Put in a plan and make it active; `PlanError` if its id is taken."""
        ...

    async def edit(self, plan_id: str | None, edit: Edit) -> Change:
        """Change one plan; None means the active one."""
        ...

    async def set_active(self, plan_id: str) -> Change:
        """Make a plan the active one."""
        ...

    async def delete(self, plan_id: str) -> Change:
        """Take a plan out."""
        ...

    async def origin(self) -> str:
        """Id of the step whose agent is calling; empty for the owner of the plan."""
        ...


class LibraryPlans:
    """Plans of a library, changed at once. Several processes may do so, and no change is lost."""

    idempotent = False

    def __init__(self, library: PlanLibrary, *, scope: str = "default") -> None:
        """Work on a library.

        Args:
            library: the plans.
            scope: whose choice of the active plan it is, such as a thread id.
        """
        self._library = library
        self._scope = scope

    async def list(self) -> tuple[Sequence[Plan], str | None]:
        """All plans, the one changed last first."""
        active = await self._library.active(self._scope)
        return [entry.plan for entry in await self._library.list()], active.plan.id if active else None

    async def get(self, plan_id: str | None) -> Plan:
        """One plan; None means the active one."""
        if plan_id is not None:
            return (await self._library.get(plan_id)).plan
        if active := await self._library.active(self._scope):
            return active.plan
        raise _no_active_plan()

    async def create(self, plan: Plan) -> Change:
        """Put in a plan and make it active."""
        await self._library.add(plan)
        await self._library.set_active(plan.id, self._scope)
        return Change(plan)

    async def edit(self, plan_id: str | None, edit: Edit) -> Change:
        """Change one plan, unless a thread owns it."""
        plan = await self.get(plan_id)
        entry = await self._library.change(plan.id, lambda newest: apply_operations(newest, edit(newest)))
        return Change(entry.plan)

    async def set_active(self, plan_id: str) -> Change:
        """Make a plan the active one of this scope."""
        return Change((await self._library.set_active(plan_id, self._scope)).plan)

    async def delete(self, plan_id: str) -> Change:
        """Take a plan out."""
        plan = await self.get(plan_id)
        await self._library.delete(plan_id)
        return Change(plan)

    async def origin(self) -> str:
        """Nobody's step: the caller owns the plans."""
        return ""


@dataclass(frozen=True)
class LivePlan:
    """The plan that a thread works on, as one call sees it."""

    plan: Plan | None
    """The plan, with what the caller asked for before folded in; None while there is none."""

    step: str = ""
    """Id of the step whose agent is calling; empty for the owner of the plan, who may also change plans."""


class LivePlans:
    """The plan in a thread's state. It is not changed here: the graph folds in the operations of the artifact.

    An agent that does one step of a plan may `get`, `list`, `mark_step` and `update`; the owner may do everything.
    """

    idempotent = True

    def __init__(self, read: Callable[[], Awaitable[LivePlan]], *, library: PlanLibrary | None = None) -> None:
        """Work on a thread's plan.

        Args:
            read: what gives the plan of the thread that is calling.
            library: other plans, to look at and to change to; None for no others.
        """
        self._read = read
        self._library = library

    async def list(self) -> tuple[Sequence[Plan], str | None]:
        """The thread's plan first, then those of the library."""
        live = await self._read()
        own = [live.plan] if live.plan else []
        entries = await self._library.list() if self._library and not live.step else []
        others = [entry.plan for entry in entries if live.plan is None or entry.plan.id != live.plan.id]
        return [*own, *others], live.plan.id if live.plan else None

    async def get(self, plan_id: str | None) -> Plan:
        """The thread's plan, or one of the library."""
        live = await self._read()
        if live.plan is not None and plan_id in (None, live.plan.id):
            return live.plan
        if plan_id is None:
            raise _no_active_plan()
        if self._library is None or live.step:
            raise PlanError(f"There is no plan {plan_id!r}: leave plan_id out for the plan that is worked on.")
        return (await self._library.get(plan_id)).plan

    async def create(self, plan: Plan) -> Change:
        """Ask for a plan to be worked on in place of the present one."""
        await self._owned("create")
        if plan.id in {other.id for other in (await self.list())[0]}:
            raise PlanError(f"A plan {plan.id!r} exists: use `update` to change it, or give another plan_id.")
        return Change(plan, [OpenPlan(plan=plan)])

    async def edit(self, plan_id: str | None, edit: Edit) -> Change:
        """Ask for changes of the thread's plan."""
        plan = await self.get(plan_id)
        live = await self._read()
        if live.plan is None or plan.id != live.plan.id:
            raise PlanError(f"Plan {plan.id!r} is not the active one: use `set_active` before you change it.")
        operations = list(edit(plan))
        return Change(apply_operations(plan, operations), list[PlanOperation](operations))

    async def set_active(self, plan_id: str) -> Change:
        """Ask for another plan to be worked on."""
        live = await self._owned("set_active")
        plan = await self.get(plan_id)
        return Change(plan, [] if plan == live.plan else [OpenPlan(plan=plan)])

    async def delete(self, plan_id: str) -> Change:
        """Take a plan out of the library, and ask for the end of it if it is the thread's."""
        live = await self._owned("delete")
        plan = await self.get(plan_id)
        if self._library is not None and any(entry.plan.id == plan_id for entry in await self._library.list()):
            await self._library.delete(plan_id)
        is_live = live.plan is not None and live.plan.id == plan_id
        return Change(plan, [ClosePlan(plan_id=plan_id)] if is_live else [])

    async def origin(self) -> str:
        """The step that the caller does."""
        return (await self._read()).step

    async def _owned(self, command: str) -> LivePlan:
        live = await self._read()
        if live.step:
            raise PlanError(
                f"`{command}` is not for the agent of one step: use `get`, `mark_step` or `update` on the running plan."
            )
        return live


def run_plans() -> LibraryPlans:
    """The plans in the store that the running graph was compiled with; the thread is the scope.

    Raises:
        UsageError: no graph is running, or it has no store.
    """
    try:
        store, config = get_store(), get_config()
    except (RuntimeError, KeyError):  # outside of a runnable, and in one that is no graph
        store, config = None, {}
    if store is None:
        raise UsageError("The planning tool has nowhere to keep plans: compile the graph with a store.")
    from ..checkpoints.plans import PlanLibrary

    return LibraryPlans(PlanLibrary(store), scope=config.get("configurable", {}).get("thread_id", "default"))


def planned_operations(messages: Iterable[AnyMessage]) -> list[PlanOperation]:
    """What the `planning` calls among these messages ask the graph to fold in, in order.

    Raises:
        PlanError: an artifact of theirs is malformed.
    """
    return [
        operation
        for message in messages
        if isinstance(message, ToolMessage) and message.name == "planning" and isinstance(message.artifact, dict)
        for operation in read_operations(message.artifact.get("operations", ()))
    ]


def tool_execution(message: ToolMessage) -> ToolExecution:
    """What a plan keeps of a call that was made for one of its steps, by the call's result."""
    failed = message.status == "error"
    return ToolExecution(
        tool=message.name or "", status="failed" if failed else "completed", call_id=message.tool_call_id
    )


def _no_active_plan() -> PlanError:
    return PlanError("There is no active plan: give plan_id, or make a plan with `create`.")
