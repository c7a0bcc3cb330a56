"""Errors, named by what the host must do with them. A docstring is the default message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wakeful.events import Fault


class WakefulError(Exception):
    """Something went wrong; this sentence should have been a better one."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class RetryLater(WakefulError):
    """The other side cannot do it now; try again later."""

    def __init__(self, message: str | None = None, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after  # seconds, when the other side named a time


class Refused(WakefulError):
    """It cannot be done, and trying again would not help."""


class SignInNeeded(WakefulError):
    """A person must sign in first."""

    def __init__(self, connection: str, principal: str) -> None:
        super().__init__(f"{principal} must connect {connection} first")
        self.connection, self.principal = connection, principal


class Ask(WakefulError):
    """A person must be asked first."""

    def __init__(self, title: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(title)
        self.details = dict(details or {})


class LeaseLost(WakefulError):
    """Another worker holds this thread now; nothing more may be written for it here."""


class Drained(WakefulError):
    """The run ended at a safe point because it was asked to; what is left of it can go on later."""


class Stale(WakefulError):
    """The question has changed since it was shown; look at it again before you decide."""


class AlreadyDecided(WakefulError):
    """This question is closed."""


class NotAllowed(WakefulError):
    """This principal may not do that."""


class Unknown(WakefulError):
    """There is no such thing."""


class PortTaken(WakefulError):
    """The port is taken; stop what listens there, or choose another one with [server] bind."""

    def __init__(self, bind: str) -> None:
        super().__init__(
            f"{bind} is taken by another program; stop it, or choose another [server] bind"
        )


class StoreBusy(WakefulError):
    """Another daemon holds this agent's store; stop it first, or use another folder."""


class StoreBroken(WakefulError):
    """The store cannot be read or written; see docs/operations.md for what to do next."""


class StoreFull(StoreBroken):
    """No room is left where the store lives; free some, nothing that was accepted is lost."""


class StoreReadOnly(StoreBroken):
    """The store's disk is read-only; make it writable again."""


class FolderFaulty(WakefulError):
    """The agent folder has faults; `wakeful check` lists them."""

    def __init__(self, message: str | None = None, *, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message or "\n".join(str(fault) for fault in faults) or None)
        self.faults = tuple(faults)


class SecretMissing(WakefulError):
    """A secret that the settings name is neither in the environment nor in the keyring."""


class KeyringTrouble(WakefulError):
    """The keyring did not answer."""


class KeyringAbsent(KeyringTrouble):
    """There is no keyring here; set an environment variable, or `[secrets] backend = "file"`."""


class KeyringLocked(KeyringTrouble):
    """The keyring is locked; unlock it and try again."""


class KeyringUnreachable(KeyringTrouble):
    """The keyring cannot be reached now; try again later."""
