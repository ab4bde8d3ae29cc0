"""One connection with HTTP/1.1, for one request after the other."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Optional

from ._transport import MAX_BODY, Response
from .errors import BadAnswer

_MAX_LINE = 1 << 16
_MAX_LINES = 100
_LENGTHS = ("content-length", "transfer-encoding")


class Connection:
    """Sends bytes and reads responses. A response that is ambiguous, longer than it may be or cut off is an error."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.keep = True
        """Whether another request may follow the one that is answered."""

    def usable(self) -> bool:
        """Whether the idle connection can take a request. One that has bytes to read cannot: they answer nothing."""
        return not self._reader.at_eof() and not self._writer.is_closing() and not self._reader._buffer  # type: ignore[attr-defined]

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def response(self) -> Response:
        """Reads a whole response."""
        status, headers = await self.head()
        return await self.rest(status, headers)

    async def rest(self, status: int, headers: dict[str, str]) -> Response:
        """Reads the whole body after a head."""
        parts: list[bytes] = []
        size = 0
        async for part in self.body(status, headers):
            size += len(part)
            parts.append(part)
            _limit(size)
        try:
            return Response(status, headers, b"".join(parts).decode())
        except UnicodeDecodeError:
            raise BadAnswer("the answer is not UTF-8") from None

    async def head(self) -> tuple[int, dict[str, str]]:
        """Reads the status and the headers. Interim responses are skipped."""
        for _ in range(_MAX_LINES):
            version, _, rest = (await self._line()).partition(" ")
            status = rest[:3]
            if version not in ("HTTP/1.1", "HTTP/1.0") or not (len(status) == 3 and status.isascii() and status.isdigit()):
                raise BadAnswer("the answer is not an answer of a gate: it is not HTTP")
            headers = await self._headers()
            if version == "HTTP/1.0" or "close" in headers.get("connection", "").lower():
                self.keep = False
            if not 100 <= int(status) < 200:
                return int(status), headers
        raise BadAnswer("the answer does not come after its interim answers")

    async def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(_MAX_LINES):
            line = await self._line()
            if not line:
                return headers
            name, colon, value = line.partition(":")
            name = name.lower()
            if not colon or not name or name != name.strip() or (name in _LENGTHS and any(n in headers for n in _LENGTHS)):
                raise BadAnswer("the answer has headers that are not clear")
            headers[name] = value.strip()
        raise BadAnswer(f"the answer has more than {_MAX_LINES} headers")

    async def body(self, status: int, headers: dict[str, str]) -> AsyncIterator[bytes]:
        """Yields the parts of a body as they arrive."""
        if status in (204, 304):
            return
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := _number((await self._line()).partition(";")[0].strip(), 16):
                yield await self._exactly(size)
                if await self._line():
                    raise BadAnswer("the answer has a chunk that is longer than its length")
            await self._headers()
        elif "transfer-encoding" not in headers and "content-length" in headers:
            yield await self._exactly(_number(headers["content-length"], 10))
        else:
            raise BadAnswer("the answer has no length")

    async def _exactly(self, size: int) -> bytes:
        _limit(size)
        return await self._reader.readexactly(size)

    async def _line(self) -> str:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise BadAnswer("the answer has a line that is too long") from None
        return line.rstrip(b"\r\n").decode("latin-1")

    def close(self) -> None:
        """Ends the connection at once."""
        self.keep = False
        self._writer.transport.abort()


async def connect(host: str, port: int, tls: Optional[ssl.SSLContext]) -> Connection:
    """Returns a connection to an address. Raises OSError."""
    return Connection(*await asyncio.open_connection(host, port, ssl=tls, limit=_MAX_LINE))


def _number(text: str, base: int) -> int:
    try:
        return int(text if text.isalnum() and len(text) <= 10 else "", base)
    except ValueError:
        raise BadAnswer("the answer has a length that is not a number") from None


def _limit(size: int) -> None:
    if size > 4 * MAX_BODY:
        raise BadAnswer("the answer is too long")
