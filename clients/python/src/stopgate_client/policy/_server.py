"""HTTP on a Unix socket or a loopback port, in threads: one for each connection of a gate."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
import stat
import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from types import TracebackType

MAX_HEAD = 16 << 10
MAX_BODY = 16 << 20


class Answering(Protocol):
    """What a server serves."""

    def is_async(self) -> bool: ...
    def answer(self, question: dict[str, Any]) -> Coroutine[Any, Any, dict[str, Any]]: ...


class _Refused(Exception):
    """A request that is no question: its status."""


class Server:
    """Serves a service until close. With ``with`` it is closed at the end of the block."""

    def __init__(self, service: Answering, url: str, token: str | None = None) -> None:
        self._service, self._token = service, token
        self._path: str | None = None
        self._socket = self._listen(url)
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        if service.is_async():
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="policies", daemon=True).start()
        threading.Thread(target=self._accept, name="policy server", daemon=True).start()

    def _listen(self, url: str) -> socket.socket:
        at = urlsplit(url)
        if at.scheme == "unix" and not at.netloc and at.path.startswith("/"):
            self._path, self.url = at.path, url
            return _listen_unix(at.path)
        if at.scheme != "http" or at.hostname not in ("127.0.0.1", "::1"):
            raise ValueError(f"{url}: want unix:///PATH or http://127.0.0.1:PORT")
        family = socket.AF_INET6 if at.hostname == "::1" else socket.AF_INET
        s = socket.create_server((at.hostname, at.port or 0), family=family)
        host = f"[{at.hostname}]" if family == socket.AF_INET6 else at.hostname
        self.url = f"http://{host}:{s.getsockname()[1]}"
        return s

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def wait(self) -> None:
        """Wait until the server is closed."""
        while not self._closed.wait(3600):
            pass

    def close(self) -> None:
        """End every connection and remove the socket."""
        if self._closed.is_set():
            return
        self._closed.set()
        if self._path is not None:
            try:
                os.unlink(self._path)
            except FileNotFoundError:
                pass
        with self._lock:
            sockets = [self._socket, *self._connections]
        for s in sockets:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._converse, args=(connection,), name="policy", daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        try:
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            rest = b""
            while True:
                body, rest = self._read(connection, rest)
                if body is None:
                    return
                connection.sendall(_response(b"200 OK", self._answer(body)))
        except _Refused as refused:
            connection.sendall(_response(str(refused).encode(), b"{}", close=True))
        except OSError:
            pass
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()

    def _read(self, connection: socket.socket, text: bytes) -> tuple[bytes | None, bytes]:
        """Read one request. The body is None at the end of the connection."""
        while b"\r\n\r\n" not in text:
            if len(text) > MAX_HEAD:
                raise _Refused("431 Request Header Fields Too Large")
            more = connection.recv(65536)
            if not more:
                return None, b""
            text += more
        head, _, text = text.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        if not lines[0].startswith("POST "):
            raise _Refused("405 Method Not Allowed")
        if headers.get("content-type", "").split(";")[0] != "application/json":
            raise _Refused("415 Unsupported Media Type")
        if self._token is not None and not hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {self._token}".encode()):
            raise _Refused("401 Unauthorized")
        size = headers.get("content-length", "")
        if not size.isdecimal() or "transfer-encoding" in headers:
            raise _Refused("411 Length Required")
        if int(size) > MAX_BODY:
            raise _Refused("413 Content Too Large")
        parts, missing = [text], int(size) - len(text)
        while missing > 0:
            more = connection.recv(min(missing, 1 << 20))
            if not more:
                return None, b""
            parts.append(more)
            missing -= len(more)
        text = b"".join(parts)
        return text[: int(size)], text[int(size) :]

    def _answer(self, body: bytes) -> bytes:
        try:
            question = json.loads(body)
            if not isinstance(question, dict):
                raise ValueError("not an object")
        except ValueError:
            raise _Refused("400 Bad Request") from None
        if self._loop is not None:
            answer = asyncio.run_coroutine_threadsafe(self._service.answer(question), self._loop).result()
        else:
            answer = _run(self._service.answer(question))
        try:
            return json.dumps(answer, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            error = {"code": "invalid_policy_result", "detail": "the answer is no JSON"}
            return json.dumps({"protocol": 1, "id": question.get("id"), "version": answer.get("version"), "error": error}).encode()


def _run(coroutine: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Run a coroutine of functions that never wait, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        value: dict[str, Any] = done.value
        return value
    coroutine.close()
    raise OSError("a policy waits, and none of the service is an async function")


def _response(status: bytes, body: bytes, close: bool = False) -> bytes:
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (status, len(body))
    return head + (b"Connection: close\r\n\r\n" if close else b"\r\n") + body


def _listen_unix(path: str) -> socket.socket:
    """Listen on a socket that only this user can reach. A socket that nobody serves is replaced."""
    try:
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(path)
                except ConnectionRefusedError:
                    os.unlink(path)
                else:
                    raise OSError(f"{path}: another process serves this socket")
        else:
            raise OSError(f"{path}: there is a file that is no socket")
    except FileNotFoundError:
        pass
    s = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        s.bind(path)
    finally:
        os.umask(before)
    s.listen(128)
    return s
