"""Secrets by name: environment, then keyring; never in a settings file, a log or a prompt."""

from wakeful.secrets.backends import Backend, SystemKeyring
from wakeful.secrets.file import EncryptedFile
from wakeful.secrets.references import is_reference, keeps_secret, references, secret_name
from wakeful.secrets.vault import Secrets, open_secrets

__all__ = [
    "Backend",
    "EncryptedFile",
    "Secrets",
    "SystemKeyring",
    "is_reference",
    "keeps_secret",
    "open_secrets",
    "references",
    "secret_name",
]
