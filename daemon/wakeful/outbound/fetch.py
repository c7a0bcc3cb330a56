"""One document from the web: its host is resolved once, checked, and exactly that connected to."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import urljoin

import httpx

from wakeful.errors import Refused
from wakeful.outbound.address import Address, parse
from wakeful.outbound.ranges import is_public

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

TOTAL = 30.0  # seconds for everything, redirects included
CONNECT = 5.0  # seconds
SILENCE = 10.0  # seconds without a byte
LARGEST = 3_000_000  # bytes of a document, unpacked
REDIRECTS = 5
TRIED = 3  # addresses of one name
PORTS = (80, 443, 8080, 8443)
HEADERS = {
    "Accept": "text/markdown, text/html, text/plain;q=0.9, */*;q=0.1",
    "Accept-Encoding": "gzip",
    "User-Agent": "wakeful",
    "Connection": "close",
}

MEDIA = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,80}", re.ASCII)

INSIDE = "{host} is not on the public internet; nothing on this machine or its network is fetched"
SLOW = "{host} took longer than {seconds:g} seconds"
AWAY = "{host} cannot be reached or broke off; try later, or another address"
LARGE = "the document is larger than {megabytes:g} MB, which is all that is read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What an address answered. `onward`: it sends to another one, which was not followed."""

    address: Address
    media_type: str = ""
    charset: str = ""
    body: bytes = b""
    onward: Address | None = None


async def resolve(host: str, port: int) -> Sequence[str]:
    """Every address of a host, as this machine knows it."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Refused(f"there is no host {host}; check its spelling") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """How documents are fetched; tests bring their own resolver, ranges, ports and authorities."""

    resolve: Resolve = resolve
    allows: Callable[[str], bool] = is_public
    ports: Collection[int] = PORTS
    total: float = TOTAL
    largest: int = LARGEST
    trusted: Callable[[], ssl.SSLContext] = _trusted

    async def get(
        self,
        url: str,
        *,
        follows: Callable[[Address], bool] = lambda _: True,
        reads: Callable[[str], bool] = lambda _: True,
    ) -> Document:
        """The document at an address. Raises Refused, with a sentence, when there is none.

        `follows`: may a redirect lead there? `reads`: is a document of this media type wanted?
        """
        address = parse(url)
        try:
            async with asyncio.timeout(self.total):
                for _ in range(REDIRECTS + 1):
                    found = await self._visit(address, reads)
                    if isinstance(found, Document):
                        return found
                    if not follows(found):
                        return Document(address=address, onward=found)
                    address = found
        except TimeoutError:
            raise Refused(SLOW.format(host=address.host, seconds=self.total)) from None
        raise Refused(f"{address.host} sends on and on; more than {REDIRECTS} times is too often")

    async def _visit(self, address: Address, reads: Callable[[str], bool]) -> Document | Address:
        if address.port not in self.ports:
            told = ", ".join(str(port) for port in sorted(self.ports))
            raise Refused(f"port {address.port} is not asked; these are: {told}")
        context = await asyncio.to_thread(self.trusted)
        for ip in (await self._checked(address))[:TRIED]:
            try:
                return await self._ask(address, ip, context, reads)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except httpx.HTTPError:  # its words may be the server's
                break
        raise Refused(AWAY.format(host=address.host))

    async def _checked(self, address: Address) -> Sequence[str]:
        """What the host is right now. One address inside among those outside is refused too."""
        found = await self.resolve(address.host, address.port)
        if not found or not all(self.allows(ip) for ip in found):
            raise Refused(INSIDE.format(host=address.host))
        return found

    async def _ask(
        self, address: Address, ip: str, context: ssl.SSLContext, reads: Callable[[str], bool]
    ) -> Document | Address:
        """Connect to this very address; name and certificate stay those of the host."""
        place = f"[{ip}]" if ":" in ip else ip
        url = f"{address.scheme}://{place}:{address.port}{address.target}"
        limits = httpx.Timeout(SILENCE, connect=CONNECT)
        async with (
            httpx.AsyncClient(verify=context, trust_env=False, timeout=limits) as client,
            client.stream(
                "GET",
                url,
                headers={"Host": address.authority, **HEADERS},
                extensions={"sni_hostname": address.host},
                follow_redirects=False,
            ) as response,
        ):
            return await self._read(address, response, reads)

    async def _read(
        self, address: Address, response: httpx.Response, reads: Callable[[str], bool]
    ) -> Document | Address:
        onward = response.headers.get("location")
        if response.is_redirect and onward:
            return _onward(address, onward)
        if not response.is_success:
            raise Refused(f"{address.host} answered {_status(response.status_code)}")
        media_type, charset = _kind(response.headers.get("content-type", ""))
        if not reads(media_type):
            raise Refused(f"the document is {media_type}, which is no text; it was not read")
        body = await self._body(response)
        return Document(address=address, media_type=media_type, charset=charset, body=body)

    async def _body(self, response: httpx.Response) -> bytes:
        """Read and unpack, and stop as soon as it is too much: a small file can unpack to a lot."""
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("identity", "", "gzip", "x-gzip"):
            raise Refused("the document is packed in a way that was not asked for")
        unpack = zlib.decompressobj(wbits=31) if packed.endswith("gzip") else None
        body = bytearray()
        async for piece in response.aiter_raw():
            body += _unpacked(unpack, piece, self.largest - len(body) + 1) if unpack else piece
            if len(body) > self.largest:
                raise Refused(LARGE.format(megabytes=self.largest / 1_000_000))
        return bytes(body)


def _unpacked(unpack: zlib._Decompress, piece: bytes, most: int) -> bytes:
    try:
        return unpack.decompress(piece, most)
    except zlib.error:
        raise Refused("the document is packed wrongly and cannot be read") from None


def _onward(address: Address, location: str) -> Address:
    try:
        return parse(urljoin(str(address), location))
    except (Refused, ValueError) as error:
        raise Refused(f"{address.host} sends on to where nobody goes: {error}") from None


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _kind(header: str) -> tuple[str, str]:
    """Media type and charset; empty when the header says nothing that can be used."""
    kind, _, rest = header.partition(";")
    found = MEDIA.fullmatch(kind.strip())
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", rest, re.IGNORECASE)
    return found[0].lower() if found else "", charset[1] if charset else ""
