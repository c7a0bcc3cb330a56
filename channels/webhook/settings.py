"""What stands in a hook's TOML file. A hook without a secret does not load."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from .templates import template_fault

MINUTE, DAY = 60, 86_400  # seconds
SCHEMES = "github, standard, hmac or bearer"
NO_SECRET = (
    "security: a hook needs a secret, or everybody can wake the agent: write "
    'verify = { scheme = "github", secret = "secret:NAME" }, or verify = "none" if you mean it'
)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Scheme(Strict):
    """A proof of origin. `window`: for how many seconds an equal body is a duplicate."""

    window: ClassVar[int] = 5 * MINUTE

    secret: SecretStr

    @field_validator("secret")
    @classmethod
    def _has_secret(cls, secret: SecretStr) -> SecretStr:
        if not secret.get_secret_value().strip():
            raise ValueError(NO_SECRET)
        return secret

    def key(self) -> bytes:
        return self.secret.get_secret_value().encode()


class Github(Scheme):
    """`X-Hub-Signature-256` over the body; GitHub delivers again for up to three days."""

    window: ClassVar[int] = 3 * DAY

    scheme: Literal["github"]


class Standard(Scheme):
    """Standard Webhooks: id, timestamp and body are signed."""

    scheme: Literal["standard"]
    tolerance: int = Field(default=5 * MINUTE, ge=1, le=DAY)  # seconds

    @field_validator("secret")
    @classmethod
    def _is_base64(cls, secret: SecretStr) -> SecretStr:
        try:
            base64.b64decode(secret.get_secret_value().removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise ValueError("a secret of Standard Webhooks is whsec_ and base64") from None
        return secret

    def key(self) -> bytes:
        return base64.b64decode(self.secret.get_secret_value().removeprefix("whsec_"))


class Hmac(Scheme):
    """Any other HMAC: say where the signature stands, and what is signed."""

    window: ClassVar[int] = 10 * MINUTE

    scheme: Literal["hmac"]
    header: str = "X-Signature"
    prefix: str = ""  # in front of the signature, such as "sha256="
    field: str = ""  # the header is a list such as t=1,v1=ab: the name of the signature in it
    algorithm: Literal["sha1", "sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    signed: str = "{body}"
    timestamp: str = ""  # a header, or with `field` a name in the list
    tolerance: int = Field(default=5 * MINUTE, ge=1, le=DAY)  # seconds

    @model_validator(mode="after")
    def _signs_what_it_reads(self) -> Hmac:
        if self.signed.count("{body}") != 1:
            raise ValueError("security: `signed` must contain {body}, or the body is not proved")
        if bool(self.timestamp) is not ("{timestamp}" in self.signed):
            raise ValueError(
                "security: name `timestamp` and write {timestamp} into `signed`, or do neither"
            )
        return self


class Bearer(Scheme):
    """A shared token in a header; it signs nothing."""

    scheme: Literal["bearer"]
    header: str = "Authorization"


AnyScheme = Annotated[Github | Standard | Hmac | Bearer, Field(discriminator="scheme")]


class Settings(Strict):
    """One hook."""

    verify: Literal["none"] | AnyScheme | None = Field(default=None, validate_default=True)
    prompt: str = ""  # Jinja over `payload` and `headers`
    thread: str = ""  # Jinja as well; empty: each delivery has a thread of its own
    id: str = ""  # Jinja over `payload`: what makes two deliveries the same one
    deliver: str = ""  # address of the answer; empty: it is kept, and sent nowhere
    body_limit: int = Field(default=5_000_000, ge=1, le=25_000_000)  # bytes
    window: int | None = Field(default=None, ge=1, le=30 * DAY)  # seconds
    trusted: bool = False

    @field_validator("verify", mode="before")
    @classmethod
    def _is_decided(cls, value: Any) -> Any:
        if value is None or (isinstance(value, dict) and "secret" not in value):
            raise ValueError(NO_SECRET)
        if isinstance(value, str) and value != "none":
            raise ValueError(f'security: write "none", or a table with a scheme: {SCHEMES}')
        return value

    @field_validator("prompt", "thread", "id")
    @classmethod
    def _is_template(cls, text: str) -> str:
        if fault := template_fault(text):
            raise ValueError(f"this is not a Jinja template: {fault}")
        return text

    @field_validator("deliver")
    @classmethod
    def _is_address(cls, address: str) -> str:
        if address and not re.fullmatch(r"[\w.-]+:\S+", address):
            raise ValueError("write an address such as console:builds, or leave it out")
        return address
