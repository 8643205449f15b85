"""Commands on a machine of Daytona, through the `daytona` SDK (extra `daytona`).

The workspace is `/workspace` there and nowhere else. The tests drive this code, through the real SDK, against a server
of their own that speaks the part of Daytona's API that is used and runs the commands in bubblewrap; it has not been
tried against Daytona itself.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar

from typing_extensions import Self

from ...state.errors import UsageError
from ...state.sandbox import WORKSPACE
from ..workspace import Workspace
from .limits import SandboxOptions
from .remote import RemoteSandbox, first_line, machine_name, prepare

KEY_VARIABLE = "DAYTONA_API_KEY"

SECONDS = 300.0
"""What making or starting a machine may take."""


class DaytonaSandbox(RemoteSandbox):
    """One machine for a workspace: stopped when the run ends, started again when it goes on, with its files."""

    name: ClassVar[str] = "daytona"

    def __init__(self, workspace: Workspace, options: SandboxOptions, client: Any, machine: Any) -> None:
        super().__init__(workspace, options, machine)
        self._client = client

    @classmethod
    async def open(cls, workspace: Workspace, options: SandboxOptions) -> Self:
        """Find the machine of the workspace by its name and start it, or make it.

        Raises:
            UsageError: there is no SDK, no key, or Daytona refuses.
        """
        client = connect(options)
        try:
            machine = await _find(client, workspace, options)
            await prepare(machine)
        except import_module("daytona").DaytonaError as error:
            await client.close()
            raise UsageError(f"Daytona does not give a sandbox ({first_line(error)}); check its settings.") from error
        except BaseException:
            await client.close()
            raise
        return cls(workspace, options, client, machine)

    @property
    def unreachable(self) -> type[Exception]:
        """What the SDK raises."""
        error: type[Exception] = import_module("daytona").DaytonaError
        return error

    async def close(self) -> None:
        """Stop the machine; its files stay."""
        await super().close()
        with suppress(import_module("daytona").DaytonaError):
            await self._machine.stop()
        await self._client.close()


def connect(options: SandboxOptions) -> Any:
    """A client with the key of the settings or the environment; it sends nothing yet.

    Raises:
        UsageError: there is no SDK, or no key.
    """
    try:
        daytona = import_module("daytona")
    except ModuleNotFoundError as error:
        raise UsageError("The sandbox daytona needs the daytona SDK; pip install 'clew[daytona]'.") from error
    own = options.daytona
    key = own.api_key.get_secret_value() if own.api_key else os.environ.get(KEY_VARIABLE)
    if not key:
        raise UsageError(f"The sandbox daytona needs a key; set {KEY_VARIABLE}, or api_key in [sandbox.daytona].")
    return daytona.AsyncDaytona(daytona.DaytonaConfig(api_key=key, api_url=own.api_url, target=own.target))


async def _find(client: Any, workspace: Workspace, options: SandboxOptions) -> Any:
    daytona = import_module("daytona")
    name, own = machine_name(workspace, options), options.daytona
    try:
        machine = await client.get(name)
    except daytona.DaytonaNotFoundError:
        parameters = daytona.CreateSandboxFromImageParams(
            name=name,
            image=daytona.Image.base(own.image).workdir(str(WORKSPACE)),
            resources=daytona.Resources(cpu=own.cpus, memory=own.memory, disk=own.disk),
            auto_stop_interval=own.auto_stop,
            network_block_all=not options.network,
            labels={"made-by": "clew"},
        )
        return await client.create(parameters, timeout=SECONDS)
    if machine.state != daytona.SandboxState.STARTED:
        await machine.start(timeout=SECONDS)
    return machine
