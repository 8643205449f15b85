"""Settings: flags over `CLEW_*` environment over `clew.toml` over defaults."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
)

from .condensation import Condenser
from .confirmation import ConfirmPolicy
from .errors import UsageError
from .limits import RunLimits
from .mcp import McpSettings
from .remote_agents import RemoteSettings
from .serving import ServeSettings
from .settings_layers import SETTINGS_FILE, layered
from .telemetry import TelemetrySettings
from .tools import ToolSettings

LONGEST_FOLDER_NAME = 200
"""Characters of a folder's name; file systems take 255 bytes."""


class ModelSettings(BaseModel):
    """How to reach one model: the `[llm]` table, or an `[llm.NAME]` table over it."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    model: str | None = None
    """Name as `load_model` takes it, such as `openai:gpt-5`."""

    base_url: str | None = None
    """Address of an OpenAI-compatible server; None for the provider's own."""

    api_key: SecretStr | None = None
    """Key of the provider; None takes the provider's environment variable."""

    temperature: float | None = None
    """Sampling temperature; None for the provider's default."""

    max_tokens: PositiveInt | None = None
    """Tokens that one reply may have."""

    max_input_tokens: PositiveInt | None = None
    """Tokens that one request may have; older messages are left out beyond it."""

    api_type: Literal["openai", "azure"] = "openai"
    """Which flavour of the OpenAI protocol the server speaks."""

    api_version: str | None = None
    """API version of an Azure server."""

    vision: bool = True
    """Whether the model sees images; if not, a marker is sent instead."""

    timeout: PositiveFloat = 300.0
    """Seconds that one call may take."""

    max_retries: int = Field(5, ge=0)
    """Further tries of a call that failed in a way that may pass."""

    requests_per_minute: PositiveInt | None = None
    """Requests that all agents of a process may make in a minute; further ones wait."""

    tokens_per_minute: PositiveInt | None = None
    """Tokens, in and out, that all agents of a process may use in a minute; further requests wait."""


class Price(BaseModel):
    """Price of one model for a million tokens."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    input: NonNegativeFloat = 0.0
    """Per million input tokens."""

    cached_input: NonNegativeFloat | None = None
    """Per million cached input tokens; None for the input price."""

    output: NonNegativeFloat = 0.0
    """Per million output tokens."""


class RunFlowSettings(BaseModel):
    """How plans are carried out: the `[runflow]` table."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    agents: list[str] = Field(default_factory=lambda: ["manus"], min_length=1)
    """Names of the agents that carry out the steps; the first is the primary one."""

    parallel: PositiveInt = 4
    """Steps that may run at once."""

    revise: Literal["on_failure", "always", "never"] = "on_failure"
    """When the planner looks at the plan again."""

    max_revisions: NonNegativeInt = 3
    """Revisions that one run may make."""

    max_steps: PositiveInt | None = None
    """Think-act cycles of all agents together; None for no limit but each agent's own."""

    timeout: PositiveFloat | None = None
    """Seconds after which a run is paused; None for no bound."""


class Settings(ToolSettings):
    """All settings of clew, as `load_settings` reads them. `clew.example.toml` shows every one."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    home: Path = Path(".clew")
    """Folder of everything that clew keeps."""

    model: str | None = None
    """Model of runs that name none; None takes `[llm] model`."""

    db: str | None = None
    """Path or URL of the database of checkpoints; None for `<home>/clew.db`."""

    db_wait: NonNegativeFloat = 20.0
    """Seconds to wait for an SQLite database that another process has locked."""

    db_sync: Literal["normal", "full"] = "normal"
    """SQLite's `synchronous`: with `full` it waits for the disk at each commit, so that a power cut loses no step."""

    workspace: Path | None = None
    """Folder of a run's files; None for `<home>/workspaces/<thread>`."""

    max_input_tokens: PositiveInt | None = None
    """Tokens that one request may have, for models whose table does not say."""

    max_delegate_level: NonNegativeInt = 3
    """How often a task may be delegated on: an agent that far below the person's own has no delegates."""

    log: Path | None = None
    """File of the structured log; None for no log."""

    confirm: ConfirmPolicy | None = None
    """Which tool calls a person is asked about; None asks about risky ones where no sandbox contains commands."""

    llm: dict[str, Any] = Field(default_factory=dict)
    """The `[llm]` table: fields of `ModelSettings`, and tables `NAME` of them."""

    runflow: RunFlowSettings = Field(default_factory=RunFlowSettings)
    """The `[runflow]` table: how `clew plan` carries out plans."""

    limits: RunLimits = Field(default_factory=RunLimits)
    """The `[limits]` table: what one run may use, all its agents together."""
    mcp: McpSettings = Field(default_factory=McpSettings)
    """The `[mcp]` table: servers whose tools agents may use."""

    serve: ServeSettings = Field(default_factory=ServeSettings)
    """The `[serve]` table: who may call a server of clew."""

    condense: list[Condenser] = Field(default_factory=list)
    """Tables `[[condense]]`: condensers of agents whose spec has none."""
    remotes: dict[str, RemoteSettings] = Field(default_factory=dict)
    """The `[remotes.NAME]` tables: agents elsewhere that ask for a key."""

    telemetry: TelemetrySettings = TelemetrySettings()
    """The `[telemetry]` table: OpenTelemetry spans of runs."""

    prices: dict[str, Price] = Field(default_factory=dict)
    """Price of each model, by name."""

    @property
    def database(self) -> str:
        """URL or path of the database of checkpoints."""
        return self.db or str(self.home / "clew.db")

    def workspace_of(self, thread: str) -> Path:
        """Folder of a thread's files, absolute; not created here."""
        return (self.workspace or self.home / "workspaces" / folder_name(thread)).absolute()

    def model_settings(self, name: str | None = None) -> ModelSettings:
        """The `[llm.NAME]` table over the `[llm]` table; the latter alone if there is no such table."""
        shared = {key: value for key, value in self.llm.items() if not isinstance(value, dict)}
        own = self.llm.get(name, {}) if name else {}
        try:
            return ModelSettings.model_validate({**shared, **own})
        except ValidationError as error:
            raise UsageError(f"[llm] settings: {_setting(error)}") from error


def folder_name(thread: str) -> str:
    """Name of one folder for a thread: its id where that is a plain name, else one that leads nowhere else."""
    name = quote(thread, safe=" @+=,:") or "%"
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if len(name) <= LONGEST_FOLDER_NAME:
        return name
    digest = sha256(thread.encode()).hexdigest()
    return f"{name[: LONGEST_FOLDER_NAME - len(digest) - 1]}-{digest}"


def load_settings(**flags: Any) -> Settings:
    """Read the settings; `flags` that are None are left to the environment and the file.

    Raises:
        UsageError: a setting is unknown or malformed, or the file cannot be read.
    """
    from pydantic_settings import SettingsError

    _check_file(Path(SETTINGS_FILE))
    try:
        settings: Settings = layered(Settings)(**{name: value for name, value in flags.items() if value is not None})
        return settings
    except ValidationError as error:
        raise UsageError(f"settings: {_setting(error)}") from error
    except SettingsError as error:
        advice = "one setting a variable, such as CLEW_LIMITS__MAX_STEPS=100"
        raise UsageError(f"environment: {error}; set a table as JSON, or {advice}") from error
    except OSError as error:
        raise UsageError(
            f"{SETTINGS_FILE} cannot be read ({error.strerror}): mend the access to it, or move it away"
        ) from error
    except ValueError as error:
        raise UsageError(f"{SETTINGS_FILE}: {error}") from error


def _check_file(file: Path) -> None:
    # What is no file would be passed over, and the run would go on without the settings.
    if file.is_dir():
        raise UsageError(f"{file} is a folder: move it away, or give the file of the settings that name")
    if file.is_symlink() and not file.exists():
        raise UsageError(f"{file} is a link that leads nowhere: mend it, or remove it")


def _setting(error: ValidationError) -> str:
    if error.errors(include_url=False)[0]["type"] != "extra_forbidden":
        return first_line(error)
    name = first_line(error).partition(": ")[0]
    return f"{name}: there is no such setting; clew.example.toml shows all"


def first_line(error: ValidationError) -> str:
    """One sentence for a validation error: the field and what is wrong with it."""
    problem = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'value'}: {problem['msg'].removeprefix('Value error, ')}"
