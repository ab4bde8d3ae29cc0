"""The transport over HTTP/1.1 and HTTPS to the address of `[api] listen`.

It follows no redirects, uses no proxies, and never sends a request twice. Connections are kept for
the next request.
"""

from __future__ import annotations

import asyncio
import ssl
import urllib.parse
from typing import Any, Optional

from ._transport import MAX_BODY, Exchange, Lines, Request, Response, expire, refusal
from .errors import BadAnswer, BadArguments, GateUnavailable, StopgateError

_IDLE = 16


class Http:
    """Requests to one address."""

    remote = True

    def __init__(self, url: str, token: Optional[str], context: Optional[ssl.SSLContext] = None) -> None:
        at = urllib.parse.urlsplit(url)
        if at.scheme not in ("http", "https") or not at.hostname or at.username or at.query or at.fragment:
            raise ValueError(f"want http://HOST:PORT or https://HOST, not {url!r}")
        self._host = at.hostname
        self._port = at.port or (443 if at.scheme == "https" else 80)
        self._base = at.path.rstrip("/")
        self._tls = (context or ssl.create_default_context()) if at.scheme == "https" else None
        self._headers = {"Host": at.netloc, "User-Agent": "stopgate-client"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._idle: list[_Connection] = []
        self._busy: set[_Connection] = set()
        self._closed = False

    async def start(self, timeout: float) -> None:
        """Does nothing: a connection is made with the first request."""

    async def request(self, request: Request, timeout: float) -> Response:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Response] = loop.create_future()
        task = loop.create_task(self._whole(request, answer))
        timer = expire(answer, timeout)
        try:
            return await answer
        finally:
            timer.cancel()
            task.cancel()

    async def _whole(self, request: Request, answer: asyncio.Future[Response]) -> None:
        try:
            connection = await self._connection()
            try:
                await connection.send(self._head(request, chunked=False) + (request.body or "").encode())
                response = await connection.response()
            except BaseException:
                self._drop(connection)
                raise
            self._keep(connection)
            if not answer.done():
                answer.set_result(response)
        except StopgateError as err:
            if not answer.done():
                answer.set_exception(err)
        except (OSError, EOFError, asyncio.LimitOverrunError) as err:
            if not answer.done():
                answer.set_exception(_lost(err))

    async def open(self, request: Request) -> Exchange:
        try:
            connection = await self._connection()
            await connection.send(self._head(request, chunked=True))
        except (OSError, EOFError) as err:
            raise _lost(err) from None
        exchange = _Exchange(self, connection)
        if request.body:
            await exchange.send(request.body)
        return exchange

    def _head(self, request: Request, chunked: bool) -> bytes:
        headers = {**self._headers, **request.headers}
        if chunked:
            headers |= {"Transfer-Encoding": "chunked", "Content-Type": "application/octet-stream"}
        elif request.body is not None:
            headers |= {"Content-Length": str(len(request.body.encode())), "Content-Type": "application/json"}
        elif request.method != "GET":
            headers |= {"Content-Length": "0"}
        lines = [f"{request.method} {self._base}{request.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if any(c in line for line in lines for c in "\r\n"):
            raise BadArguments("a header of the request has a line feed")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    async def _connection(self) -> _Connection:
        if self._closed:
            raise GateUnavailable("the gate object is closed")
        while self._idle:
            connection = self._idle.pop()
            if connection.usable():
                self._busy.add(connection)
                return connection
            connection.close()
        reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._tls, limit=1 << 20)
        connection = _Connection(reader, writer)
        self._busy.add(connection)
        return connection

    def _keep(self, connection: _Connection) -> None:
        self._busy.discard(connection)
        if connection.keep and len(self._idle) < _IDLE and not self._closed:
            self._idle.append(connection)
        else:
            connection.close()

    def _drop(self, connection: _Connection) -> None:
        self._busy.discard(connection)
        connection.close()

    async def close(self) -> None:
        self._closed = True
        for connection in [*self._idle, *self._busy]:
            connection.close()
        self._idle.clear()


class _Connection:
    """One connection, for one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.keep = True

    def usable(self) -> bool:
        """Whether the idle connection can take a request. One that has bytes to read cannot: they answer nothing."""
        return not self._reader.at_eof() and not self._writer.is_closing() and not self._reader._buffer  # type: ignore[attr-defined]

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def response(self) -> Response:
        """Reads a whole response."""
        status, headers = await self.head()
        parts = [part async for part in self.body(status, headers)]
        return Response(status, headers, _text(b"".join(parts)))

    async def head(self) -> tuple[int, dict[str, str]]:
        """Reads the status and the headers. Interim responses are skipped."""
        while True:
            version, _, rest = (await self._line()).partition(" ")
            status = rest[:3]
            if version not in ("HTTP/1.1", "HTTP/1.0") or not (status.isascii() and status.isdigit()):
                raise BadAnswer("the answer is not an answer of a gate: it is not HTTP")
            headers: dict[str, str] = {}
            for _ in range(100):
                line = await self._line()
                if not line:
                    break
                name, _, value = line.partition(":")
                headers[name.strip().lower()] = value.strip()
            else:
                raise BadAnswer("the answer has more than 100 headers")
            if version == "HTTP/1.0" or headers.get("connection", "").lower() == "close":
                self.keep = False
            if not 100 <= int(status) < 200:
                return int(status), headers

    async def body(self, status: int, headers: dict[str, str]) -> Any:
        """Yields the parts of a body as they arrive."""
        if status in (204, 304):
            return
        total = 0
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := _number(await self._line(), 16):
                total += size
                _limit(total)
                yield await self._reader.readexactly(size)
                await self._line()
            while await self._line():
                pass
        elif "content-length" in headers:
            size = _number(headers["content-length"], 10)
            _limit(size)
            yield await self._reader.readexactly(size)
        else:
            raise BadAnswer("the answer has no length")

    async def _line(self) -> str:
        line = await self._reader.readuntil(b"\n")
        return line.rstrip(b"\r\n").decode("latin-1")

    def close(self) -> None:
        self.keep = False
        self._writer.close()


class _Exchange:
    """A request whose body goes on, in chunks."""

    def __init__(self, http: Http, connection: _Connection) -> None:
        self._http, self._connection = http, connection
        self._lines = Lines()
        self._finished = False
        self._task = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        error: Optional[StopgateError] = None
        try:
            status, headers = await self._connection.head()
            if status != 200:
                parts = [part async for part in self._connection.body(status, headers)]
                raise refusal(Response(status, headers, _text(b"".join(parts))))
            rest = b""
            async for part in self._connection.body(status, headers):
                whole, feed, rest = (rest + part).rpartition(b"\n")
                self._lines.feed(_text(whole + feed))
            if rest:
                raise BadAnswer("the answer ends in the middle of a line")
        except StopgateError as err:
            error = err
        except (OSError, EOFError, asyncio.LimitOverrunError) as err:
            error = _lost(err)
        self._lines.end(error)
        if error is None and self._finished:
            self._http._keep(self._connection)
        else:
            self._http._drop(self._connection)

    async def send(self, text: str) -> None:
        data = text.encode()
        if data and not self._lines.ended:
            try:
                await self._connection.send(b"%x\r\n%b\r\n" % (len(data), data))
            except OSError:
                pass  # the reader reports the answer, or how the connection ended

    async def finish(self) -> None:
        if not self._lines.ended:
            self._finished = True
            try:
                await self._connection.send(b"0\r\n\r\n")
            except OSError:
                pass

    async def line(self) -> Optional[str]:
        return await self._lines.next()

    def cancel(self) -> None:
        if not self._task.done():
            self._task.cancel()
            self._lines.end(GateUnavailable("the call was cancelled"))
            self._http._drop(self._connection)


def _lost(err: BaseException) -> StopgateError:
    if isinstance(err, ssl.SSLError):
        return GateUnavailable(f"the connection to the gate is not secure: {err}")
    return GateUnavailable(f"the gate cannot be reached: {err or type(err).__name__}")


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadAnswer("the answer is not UTF-8") from None


def _number(text: str, base: int) -> int:
    digits = text.partition(";")[0].strip()
    if not digits.isalnum() or len(digits) > 10:
        raise BadAnswer("the answer has a length that is not a number")
    try:
        return int(digits, base)
    except ValueError:
        raise BadAnswer("the answer has a length that is not a number") from None


def _limit(size: int) -> None:
    if size > 4 * MAX_BODY:
        raise BadAnswer("the answer is too long")
