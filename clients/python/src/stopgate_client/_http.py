"""The transport over HTTP/1.1 and HTTPS to the address of `[api] listen`.

It follows no redirects, uses no proxies, and never sends a request twice. Connections are kept for
the next request. OpenSSL knows which certificates are trusted: SSL_CERT_FILE names others.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import ssl
import urllib.parse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Optional

from ._http1 import Connection, connect
from ._transport import Exchange, Lines, Request, Response, late, refusal, same_process
from .errors import BadAnswer, BadArguments, GateUnavailable, StopgateError

_IDLE = 16
_ADDRESS = re.compile(r"https?://([\w.-]+|\[[\w:.%]+\])(:[0-9]{1,5})?(/[\w.~!$&'()*+,;=:@%/-]*)?", re.ASCII | re.IGNORECASE)
_PRINTABLE = re.compile("[ -~]+")


class Http:
    """Requests to one address."""

    remote = True

    def __init__(self, url: str, token: Optional[str]) -> None:
        if not _ADDRESS.fullmatch(url):
            raise ValueError(f"want http://HOST:PORT or https://HOST, not {url!r}")
        if token and not _PRINTABLE.fullmatch(token):
            raise ValueError("the token has characters that no header can have")
        at = urllib.parse.urlsplit(url)
        self._host = at.hostname or ""
        self._port = at.port or (443 if at.scheme == "https" else 80)
        self._base = at.path.rstrip("/")
        self._pid = os.getpid()
        self._tls = ssl.create_default_context() if at.scheme == "https" else None
        self._headers = {"Host": at.netloc, "User-Agent": "stopgate-client"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._closed = False

    async def start(self, timeout: float) -> None:
        """Does nothing: a connection is made with the first request."""

    async def request(self, request: Request, timeout: float) -> Response:
        task = asyncio.ensure_future(self._whole(request))
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout)
            if not done:
                raise late(timeout)
            return task.result()
        finally:
            task.cancel()

    async def _whole(self, request: Request) -> Response:
        async with self._connection() as connection:
            await connection.send(self._head(request, chunked=False) + (request.body or "").encode())
            response = await connection.response()
        self._keep(connection)
        return response

    async def open(self, request: Request) -> Exchange:
        async with self._connection() as connection:
            await connection.send(self._head(request, chunked=True) + _chunk(request.body or ""))
        return _Exchange(self, connection)

    def _head(self, request: Request, chunked: bool) -> bytes:
        headers = {**self._headers, **request.headers}
        if chunked:
            headers |= {"Transfer-Encoding": "chunked", "Content-Type": "application/octet-stream"}
        elif request.body is not None:
            headers |= {"Content-Length": str(len(request.body.encode())), "Content-Type": "application/json"}
        elif request.method != "GET":
            headers |= {"Content-Length": "0"}
        lines = [f"{request.method} {self._base}{request.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        if not all(_PRINTABLE.fullmatch(line) for line in lines):
            raise BadArguments("a header of the request has characters that no header can have")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        """Yields a connection for one request. It is closed if that fails."""
        connection: Optional[Connection] = None
        try:
            connection = self._take() or await connect(self._host, self._port, self._tls)
            self._busy.add(connection)
            yield connection
        except BaseException as err:
            if connection is not None:
                self._drop(connection)
            if isinstance(err, (OSError, EOFError, UnicodeError)):  # the last of a name that is too long
                raise _lost(err) from None
            raise

    def _take(self) -> Optional[Connection]:
        """Returns an idle connection that can take a request."""
        same_process(self._pid)
        if self._closed:
            raise GateUnavailable("the gate object is closed")
        while self._idle:
            connection = self._idle.pop()
            if connection.usable():
                return connection
            connection.close()
        return None

    def _keep(self, connection: Connection) -> None:
        self._busy.discard(connection)
        if connection.keep and len(self._idle) < _IDLE and not self._closed:
            self._idle.append(connection)
        else:
            connection.close()

    def _drop(self, connection: Connection) -> None:
        self._busy.discard(connection)
        connection.close()

    async def close(self) -> None:
        self._closed = True
        for connection in [*self._idle, *self._busy]:
            connection.close()
        self._idle.clear()


class _Exchange:
    """A request whose body goes on, in chunks."""

    def __init__(self, http: Http, connection: Connection) -> None:
        self._http, self._connection = http, connection
        self._lines = Lines()
        self._finished = False
        self._task = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        error: Optional[StopgateError] = None
        try:
            status, headers = await self._connection.head()
            if status != 200:
                raise refusal(await self._connection.rest(status, headers))
            decoder = codecs.getincrementaldecoder("utf-8")()
            async for part in self._connection.body(status, headers):
                self._lines.feed(decoder.decode(part))
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            error = BadAnswer("the answer is not UTF-8")
        except StopgateError as err:
            error = err
        except (OSError, EOFError) as err:
            error = _lost(err)
        self._lines.end(error)
        if error is None and self._finished:
            self._http._keep(self._connection)
        else:
            self._http._drop(self._connection)

    async def send(self, text: str) -> None:
        if text and not self._lines.ended:
            try:
                await self._connection.send(_chunk(text))
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


def _chunk(text: str) -> bytes:
    """Returns a chunk of a body. The empty one would end it."""
    data = text.encode()
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def _lost(err: BaseException) -> StopgateError:
    if isinstance(err, ssl.SSLError):
        return GateUnavailable(f"the connection to the gate is not secure: {err}")
    return GateUnavailable(f"the gate cannot be reached: {err or type(err).__name__}")
