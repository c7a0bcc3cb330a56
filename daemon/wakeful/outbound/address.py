"""Web addresses, read one way only: what a person is shown is what is asked for."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote, urlsplit

from wakeful.errors import Refused

LONGEST = 2_000  # characters of an address; a longer one carries a message
MOST = 2_000  # addresses of one text that are looked at
TAIL = 5  # signs behind an address that may belong to the sentence
PORTS = {"http": 80, "https": 443}

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_WRITTEN = re.compile(r"https?://[^\s<>\"'`|]+", re.IGNORECASE)
_TAIL = ".,;:!?*_~)]}"  # what a sentence puts behind an address
_KEPT = "%/:?#[]@!$&'()*+,;=~"  # characters of a path and query that mean something


@dataclass(frozen=True, slots=True)
class Address:
    """An http or https address, in the one spelling that is asked for and shown."""

    scheme: str
    host: str  # ASCII, lower case, without a dot at its end; IPv6 without brackets
    port: int
    target: str  # path and query

    @property
    def authority(self) -> str:
        """Host and port as they stand in an address and in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse(url: str) -> Address:
    """Read an address. Raises Refused for what two readers could read in two ways."""
    text = url.strip(" ")
    if len(text) > LONGEST:
        raise Refused(f"the address has {len(text)} characters; {LONGEST} fit")
    if any(ord(sign) <= 32 or sign in '\\<>"`\x7f' for sign in text):
        raise Refused("the address has a blank, a backslash or another sign that belongs in none")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise Refused("that is no address; write one such as https://example.com/page") from None
    if parts.scheme not in PORTS:
        raise Refused("only http and https addresses can be fetched")
    if "@" in parts.netloc:
        raise Refused("the address carries a user name; write it without")
    if port == 0:
        raise Refused("there is no port 0")
    host = _host(parts.hostname or "", bracketed="[" in parts.netloc)
    query = f"?{parts.query}" if parts.query else ""
    target = quote(f"{parts.path or '/'}{query}", safe=_KEPT)
    return Address(parts.scheme, host, port or PORTS[parts.scheme], target)


def _host(host: str, *, bracketed: bool) -> str:
    if bracketed:
        if "%" in host:
            raise Refused("the address names a network interface; it leads nowhere else")
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise Refused(f"[{host}] is no IPv6 address") from None
    name = _ascii(host)
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(name))  # strict: four decimal numbers, no zero ahead
        except ValueError:
            raise Refused(
                "the host is a number in an unusual spelling; write a name or a plain IPv4 address"
            ) from None
    if not _NAME.fullmatch(name):
        raise Refused("the address names no host; write one such as https://example.com/page")
    return name


def _ascii(host: str) -> str:
    """The host as the name service is asked for it; wide digits and dots become plain ones."""
    try:
        return host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise Refused("the name of the host cannot be read; check its spelling") from None


def host_pattern(value: str) -> str:
    """A host of the settings: a name, or `*.` and a name for all below it. Raises ValueError."""
    wild, name = ("*.", value[2:]) if value.startswith("*.") else ("", value)
    try:
        bare = name and parse(f"https://{name}/")
    except Refused:
        bare = None
    if not bare or bare.target != "/" or bare.port != 443 or name.endswith("/") or "?" in name:
        raise ValueError('write a host alone, such as "docs.example.com" or "*.example.com"')
    if wild and "." not in bare.host:
        raise ValueError(f'"{value}" would be half of the world; name a domain below it')
    return wild + bare.host


class Hosts:
    """The hosts of the settings, as something that an address is in or not."""

    def __init__(self, patterns: Iterable[str]) -> None:
        names = frozenset(patterns)
        self._exact = frozenset(name for name in names if not name.startswith("*."))
        self._below = tuple(name[1:] for name in names if name.startswith("*."))

    def __contains__(self, address: Address) -> bool:
        return address.host in self._exact or address.host.endswith(self._below)


def written_in(text: str) -> Iterator[Address]:
    """The addresses that stand in a text, each as a whole: the beginning of one is another one.

    Whoever wrote the text may want it to take long: it is looked at up to a bound.
    """
    for found in islice(_WRITTEN.finditer(text), MOST):
        whole = found[0]
        if len(whole) > LONGEST:
            continue
        yield from _read(whole)
        for cut in range(1, TAIL + 1):
            if whole[-cut] not in _TAIL:
                break
            yield from _read(whole[:-cut])


def _read(url: str) -> Iterator[Address]:
    try:
        yield parse(url)
    except Refused:
        return
