"""A lean HTTP client for load: kept-alive connections, one request at a time on each."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator


class Load:
    """Posts JSON bodies over `concurrency` connections and keeps the latencies, in seconds."""

    def __init__(self, port: int, path: str, token: str = "") -> None:
        self.port, self.path, self.token = port, path, token
        self.latencies: list[float] = []

    def request(self, body: dict[str, str]) -> bytes:
        payload = json.dumps(body).encode()
        head = f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
        if self.token:
            head += f"Authorization: Bearer {self.token}\r\n"
        return head.encode() + b"\r\n" + payload

    async def run(self, bodies: Iterator[dict[str, str]], concurrency: int) -> float:
        """Post all bodies; returns requests per second."""
        begin = time.perf_counter()
        await asyncio.gather(*(self._connection(bodies) for _ in range(concurrency)))
        return len(self.latencies) / (time.perf_counter() - begin)

    async def paced(self, bodies: Iterator[dict[str, str]], every: float) -> None:
        """Post one body each `every` seconds on one connection, whatever the answers take."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for body in bodies:
            await self._post(reader, writer, body)
            await asyncio.sleep(every)
        writer.close()

    async def _connection(self, bodies: Iterator[dict[str, str]]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for body in bodies:
            await self._post(reader, writer, body)
        writer.close()

    async def _post(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: dict[str, str]
    ) -> None:
        begin = time.perf_counter()
        writer.write(self.request(body))
        head = await reader.readuntil(b"\r\n\r\n")
        if head.split(b" ", 2)[1] not in (b"200", b"202"):
            raise RuntimeError(head.decode("latin-1"))
        lines = head.lower().split(b"\r\n")
        length = next(int(x.partition(b":")[2]) for x in lines if x.startswith(b"content-length"))
        await reader.readexactly(length)
        self.latencies.append(time.perf_counter() - begin)


def p99(latencies: list[float]) -> float:
    return sorted(latencies)[int(len(latencies) * 0.99)]
