"""The settings of an agent folder, frozen."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from wakeful.config.words import SECURITY
from wakeful.outbound import host_pattern

OPERATOR_BIND = "127.0.0.1:7777"
SQLITE = "sqlite:///"  # how the address of a store begins
TOOLS = ("send", "remember", "no_reply", "fetch_url")
SCHEDULES = ("housekeeping",)
CHANNELS = ("console",)


def split_bind(bind: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:7777` or `[::1]:7777`."""
    host, colon, port = bind.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError(f'write host and port, such as "{OPERATOR_BIND}"')
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bind(value: str) -> str:
    split_bind(value)
    return value


def _operator_bind(value: str) -> str:
    host, _ = split_bind(value)
    if not is_loopback(host):
        raise ValueError(
            f"{SECURITY}the operator's page and API answer on loopback only, and {host} can be"
            f' reached by others; use "{OPERATOR_BIND}", and public_bind for webhooks'
        )
    return value


def _public_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError('write the address that the world uses, such as "https://bot.example.com"')
    if parts.query or parts.fragment:
        raise ValueError("leave out what follows the path")
    return value.rstrip("/")


def _timezone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ValueError, OSError, LookupError):
        raise ValueError(
            f'"{value}" is no time zone; use an IANA name, such as "Europe/Berlin"'
        ) from None
    return value


def _store_url(value: str) -> str:
    if not value.startswith((SQLITE, "secret:", "${")):
        raise ValueError(f'the daemon runs on SQLite; write "{SQLITE}/absolute/path/state.db"')
    return value


def _address(value: str) -> str:
    channel, colon, where = value.partition(":")
    if not (channel and colon and where):
        raise ValueError(f'"{value}" is no address; write channel and place, such as "slack:#ops"')
    return value


Address = Annotated[str, AfterValidator(_address)]
Name = Annotated[str, Field(min_length=1)]
_Place = Annotated[Path, AfterValidator(Path.expanduser)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Use(_Table):
    """Which of the plugs that come with Wakeful are on; a list replaces the default."""

    tools: tuple[Name, ...] = TOOLS
    skills: tuple[Name, ...] = ()
    schedules: tuple[Name, ...] = SCHEDULES
    channels: tuple[Name, ...] = CHANNELS


class Server(_Table):
    bind: Annotated[str, AfterValidator(_operator_bind)] = OPERATOR_BIND
    public_bind: Annotated[str, AfterValidator(_bind)] | None = None
    public_url: Annotated[str, AfterValidator(_public_url)] | None = None

    @model_validator(mode="after")
    def _apart(self) -> Server:
        if self.public_bind == self.bind and split_bind(self.bind)[1]:
            raise ValueError("bind and public_bind are the same; give each its own port")
        return self


class StoreSettings(_Table):
    url: Annotated[str, AfterValidator(_store_url)] | None = None  # none: .wakeful/state.db


class Limits(_Table):
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8  # runs side by side
    steps: Annotated[int, Field(ge=1)] = 200  # model and tool calls of one run
    seconds: Annotated[float, Field(gt=0)] = 900.0  # of one attempt
    attempts: Annotated[int, Field(ge=1)] = 5
    context: Annotated[int, Field(ge=1000)] = 100_000  # tokens, above which a thread is summarised


def _file_path(value: str) -> str:
    if not value.startswith("/") or ".." in value.split("/"):
        raise ValueError(f'"{value}" is no path of the workspace; begin with /, such as "/reports"')
    return value


class FileRule(_Table):
    """What the agent may do with some files of its workspace; the first rule that fits decides."""

    path: Annotated[str, AfterValidator(_file_path)]
    read: bool = True
    write: bool = True


class Alerts(_Table):
    """Where failures are told; empty: page, log and `status` only."""

    route: tuple[Address, ...] = ()


class Retention(_Table):
    """Days that things are kept after they ended."""

    payloads: Annotated[int, Field(ge=1)] = 30  # text of what came in
    identities: Annotated[int, Field(ge=8)] = 90  # longer than any source sends something again
    sent: Annotated[int, Field(ge=1)] = 30  # replies
    effects: Annotated[int, Field(ge=1)] = 30
    messages: Annotated[int, Field(ge=1)] = 365  # what people saw, for the pages
    steps: Annotated[int, Field(ge=1)] = 30
    artefacts: Annotated[int, Field(ge=1)] = 90


class Trust(_Table):
    """What a conversation may still do by itself once text from outside is in it."""

    hosts: tuple[Annotated[str, AfterValidator(host_pattern)], ...] = ()  # fetched without asking


class SecretSettings(_Table):
    """Where secrets are kept: the system's keyring, or an encrypted file."""

    backend: Literal["os", "file"] = "os"
    file: _Place | None = None  # none: .wakeful/secrets.json
    key_file: _Place | None = None  # none: the user's configuration folder


class Settings(BaseSettings):
    """agent.toml, environment and command line in one."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix="WAKEFUL_",
        env_nested_delimiter="__",
        env_ignore_empty=True,  # a variable that is set to nothing must not beat a real value
        protected_namespaces=(),
    )

    model: Name
    fallbacks: tuple[Name, ...] = ()
    timezone: Annotated[str, AfterValidator(_timezone)] = "UTC"
    tracing: bool = False  # LangSmith sees every text; off unless written out
    files: tuple[FileRule, ...] = ()
    use: Use = Use()
    model_options: dict[str, Any] = Field(default_factory=dict)
    server: Server = Server()
    store: StoreSettings = StoreSettings()
    limits: Limits = Limits()
    alerts: Alerts = Alerts()
    retention: Retention = Retention()
    secrets: SecretSettings = SecretSettings()
    trust: Trust = Trust()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what it is given: `load` asks the sources, to know where each value came from."""
        return (init_settings,)
