"""Turn the names of secrets in the settings into secrets: environment first, then the keyring."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from wakeful.config import KeyPath, SecretSettings, texts
from wakeful.errors import KeyringTrouble, KeyringUnreachable, SecretMissing
from wakeful.redact import hide, redact
from wakeful.secrets.backends import Backend, SystemKeyring
from wakeful.secrets.bounded import TIMEOUT, start
from wakeful.secrets.file import EncryptedFile
from wakeful.secrets.references import (
    NAME,
    fill,
    is_reference,
    keeps_secret,
    names_secret,
    secret_name,
    variables,
)

T = TypeVar("T")

TELLING = 8  # characters; what the environment calls a secret and is shorter may be anything


class Secrets:
    """Resolves, stores, and remembers what it gave out, for redaction.

    What the environment calls a secret is known from the start: a tool may read it by itself.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        environment: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._backend = backend
        self._environment = os.environ if environment is None else environment
        self._timeout = timeout
        self._known = frozenset(_told(self._environment))
        self._silent: KeyringUnreachable | None = None

    @property
    def known(self) -> frozenset[str]:
        """Every secret that was given out; none of them may reach a log, a page or a message."""
        return self._known

    def remember(self, value: str) -> None:
        """Know one more secret, and what is secret inside it."""
        self._known |= {value, *_inside(value)}

    def hide(self, text: str) -> str:
        """The text without known secrets: for whatever the model or people read."""
        return hide(text, self._known)

    def redact(self, text: str) -> str:
        """The same without what looks like a token, too: for errors and logs."""
        return redact(text, self._known)

    async def resolve(self, text: str) -> SecretStr:
        """What `secret:NAME` or `${ENV}` stands for; any other text stands for itself."""
        value = await self._value(text)
        self.remember(value)
        for name in filter(names_secret, variables(text)):
            self.remember(self._environment[name])
        return SecretStr(value)

    async def resolve_tree(self, value: Any) -> Any:
        """Settings with each reference resolved: SecretStr for secrets, text for other variables.

        A host name or a port from the environment is no secret: redacting it would spoil texts.
        """
        filled = value
        for path, text in texts(value):
            if not is_reference(text):
                if keeps_secret(path):
                    self.remember(text)
                continue
            plain = secret_name(text) is None and not keeps_secret(path)
            new = await self._value(text) if plain else await self.resolve(text)
            filled = _put(filled, path, new)
        return filled

    async def set(self, name: str, value: str) -> None:
        _named(name)
        await self._ask(lambda: self._backend.set(name, value), name)

    async def delete(self, name: str) -> bool:
        return await self._ask(lambda: self._backend.delete(name), name)

    def missing(self, text: str) -> str | None:
        """Why a reference cannot be resolved now; None when it can. Blocks; for `check`."""
        if self._silent and secret_name(text):
            return str(self._silent)  # asking a keyring that hangs once is enough
        try:
            name = secret_name(text)
            if name is None:
                self._filled(text)
            elif self._from_environment(name) is None:
                _there(name, self._wait(lambda: self._backend.get(name), name))
        except (SecretMissing, KeyringTrouble) as error:
            return str(error)
        return None

    async def _value(self, text: str) -> str:
        name = secret_name(text)
        if name is None:
            return self._filled(text)
        found = self._from_environment(name)
        if found is None:
            found = await self._ask(lambda: self._backend.get(name), name)
        return _there(name, found)

    def _from_environment(self, name: str) -> str | None:
        _named(name)
        return self._environment.get(name) or None  # set to nothing is not set

    def _filled(self, text: str) -> str:
        values = {name: self._environment.get(name, "") for name in variables(text)}
        for name, value in values.items():
            if not value:
                raise SecretMissing(
                    f"the environment variable {name} is not set; set it before the daemon starts"
                )
        return fill(text, values)

    async def _ask(self, call: Callable[[], T], name: str) -> T:
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.wrap_future(start(call))
        except TimeoutError:
            raise self._late(name) from None
        except KeyringTrouble as error:
            raise _about(name, error) from error

    def _wait(self, call: Callable[[], T], name: str) -> T:
        try:
            return start(call).result(self._timeout)
        except Late:
            self._silent = self._late(name)
            raise self._silent from None
        except KeyringTrouble as error:
            raise _about(name, error) from error

    def _late(self, name: str) -> KeyringUnreachable:
        seconds = f"{self._timeout:g} second{'' if self._timeout == 1 else 's'}"
        return KeyringUnreachable(f'the keyring did not answer for "{name}" within {seconds}')


def open_secrets(folder: Path, settings: SecretSettings, *, timeout: float = TIMEOUT) -> Secrets:
    """The secrets of an agent folder, by the backend that its settings name."""
    return Secrets(choose_backend(folder, settings), timeout=timeout)


def choose_backend(folder: Path, settings: SecretSettings) -> Backend:
    if settings.backend == "os":
        return SystemKeyring()
    path = folder / (settings.file or Path(".wakeful", "secrets.json"))
    return EncryptedFile(path, folder / (settings.key_file or default_key_file()))


def default_key_file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "wakeful" / "keyring.key"


def _named(name: str) -> None:
    if not NAME.fullmatch(name):
        raise SecretMissing(
            f'"{name}" is no name of a secret; use letters, digits, and "_", "." or "-"'
        )


def _there(name: str, found: str | None) -> str:
    if not found:
        raise SecretMissing(
            f'the secret "{name}" is neither in the environment nor in the keyring;'
            f" set the variable {name}, or store it with `wakeful secrets set {name}`"
        )
    return found


def _about(name: str, error: KeyringTrouble) -> KeyringTrouble:
    return type(error)(f'the secret "{name}" is not in the environment, and: {error}')


def _told(environment: Mapping[str, str]) -> Iterator[str]:
    """What the environment calls a secret; the place where one lies is none."""
    for name, value in environment.items():
        yield from _inside(value)
        place = value.startswith("/") or "://" in value
        if names_secret(name) and len(value) >= TELLING and not place:
            yield value


def _inside(value: str) -> Iterator[str]:
    """The password of an address, which errors may show without the rest."""
    if "://" in value and "@" in value:
        with suppress(ValueError):
            yield from filter(None, [unquote(urlsplit(value).password or "")])


def _put(value: Any, path: KeyPath, new: Any) -> Any:
    """A copy with one place changed; what was given stays as it is."""
    if not path:
        return new
    head, *rest = path
    if isinstance(value, Mapping):
        return {**value, head: _put(value[head], tuple(rest), new)}
    items = list(value)
    items[int(head)] = _put(items[int(head)], tuple(rest), new)
    return items
