"""Where secrets are kept: the system's keyring. What keeps them in plain text is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from wakeful.errors import KeyringAbsent, KeyringLocked, KeyringTrouble, KeyringUnreachable

SERVICE = "wakeful"

T = TypeVar("T")

_PLAIN = (
    "it keeps secrets in plain text, and Wakeful does not store any there; uninstall keyrings.alt,"
    ' or choose `[secrets] backend = "file"`'
)


class Backend(Protocol):
    """Calls block; `Secrets` makes them in a thread. Each raises KeyringTrouble when it cannot."""

    def get(self, name: str) -> str | None: ...
    def set(self, name: str, value: str) -> None: ...
    def delete(self, name: str) -> bool:
        """False when there was none."""
        ...


class SystemKeyring:
    """The keyring of the operating system, through the `keyring` package."""

    def get(self, name: str) -> str | None:
        found: str | None = _asked(lambda ring: ring.get_password(SERVICE, name))
        return found

    def set(self, name: str, value: str) -> None:
        _asked(lambda ring: ring.set_password(SERVICE, name, value))

    def delete(self, name: str) -> bool:
        from keyring.errors import PasswordDeleteError

        try:
            _asked(lambda ring: ring.delete_password(SERVICE, name))
        except PasswordDeleteError:
            return False
        return True


def _asked(call: Callable[[Any], T]) -> T:
    """Call the keyring, with its many errors told apart: absent, locked, unreachable."""
    import keyring
    from keyring.errors import (
        InitError,
        NoKeyringError,
        PasswordDeleteError,
    )
    from keyring.errors import (
        KeyringLocked as Locked,
    )

    try:
        ring = keyring.get_keyring()
        _refuse_unsafe(ring)
        return call(ring)
    except (PasswordDeleteError, KeyringTrouble):
        raise
    except NoKeyringError as error:
        raise KeyringAbsent from error
    except (Locked, InitError) as error:
        raise KeyringLocked from error
    except Exception as error:  # each backend has its own: D-Bus, ctypes, the Keychain's
        raise KeyringUnreachable(f"The keyring cannot be reached: {error}") from error


def _refuse_unsafe(ring: Any) -> None:
    for each in _members(ring):
        name = f"{type(each).__module__}.{type(each).__name__}"
        if name.startswith(("keyring.backends.fail.", "keyring.backends.null.")):
            raise KeyringAbsent
        if "plaintext" in name.lower():
            raise KeyringTrouble(f"The keyring here is {name}: {_PLAIN}.")


def _members(ring: Any) -> Iterator[Any]:
    yield ring
    if type(ring).__module__.startswith("keyring.backends.chainer"):
        yield from ring.backends
