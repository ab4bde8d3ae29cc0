"""Remote gates for the tests: a real one with an address, TLS in front of it, and a server that answers with any bytes."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

from fake_relay import answer

TOKENS = {"AGENT": "agent-0123456789abcdef", "PLAIN": "plain-0123456789abcdef", "ANNA": "anna-0123456789abcdef", "BOTH": "both-0123456789abcdef"}
ACCESS = """
[api.tokens.agent]
scopes = ["decide", "observe", "texts", "operate"]
env = "AGENT"
[api.tokens.plain]
scopes = ["decide"]
env = "PLAIN"
[api.tokens.anna]
scopes = ["approve"]
env = "ANNA"
[api.tokens.both]
scopes = ["decide", "approve"]
env = "BOTH"
"""


class Up:
    """`stopgate up` with `[api] listen`, in a directory of its own."""

    def __init__(self, program: str, policy: str) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="sg-", dir="/tmp"))
        self._program, self._policy, self._port = program, policy, 0
        self.start()

    def start(self) -> None:
        """Starts the program; a second time at the same address with the same state."""
        policy = self.directory / "stopgate.toml"
        policy.write_text(f'{self._policy}[api]\nlisten = "127.0.0.1:{self._port}"\n{ACCESS}')
        state = {"HOME": str(self.directory), "XDG_STATE_HOME": str(self.directory), "PATH": "/usr/bin:/bin"}
        line = [self._program, "up", "--policy", str(policy), "--listen", "127.0.0.1:0", "--api-socket", "none"]
        log = self.directory / "log"
        with log.open("a") as errors:
            self._process = subprocess.Popen(line, cwd=self.directory, env={**state, **TOKENS}, stdout=subprocess.PIPE, stderr=errors)
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        assert first, log.read_text()
        self.url: str = json.loads(first)["api"]
        self._port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class Server:
    """A server on a thread. `reply` answers each request after those that begin sessions, and `requests` has their heads."""

    def __init__(self, context: Optional[ssl.SSLContext] = None) -> None:
        self.reply: Callable[[socket.socket, str], None] = lambda connection, tool: connection.sendall(allowed(tool))
        self.requests: list[str] = []
        self.connections = 0
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with self._context.wrap_socket(connection, server_side=True) if self._context else connection as secure:
                self.converse(secure)
        except OSError:
            pass  # the client left

    def converse(self, connection: socket.socket) -> None:
        """Answers the requests of a connection."""
        with connection.makefile("rb") as stream:
            while line := stream.readline():
                head = [line.decode("latin-1").rstrip(), *iter(lambda: stream.readline().decode("latin-1").rstrip(), "")]
                headers = {name.lower(): value.strip() for name, _, value in (h.partition(":") for h in head[1:])}
                body = stream.read(int(headers.get("content-length", 0)))
                if line.startswith(b"POST /v1/sessions "):
                    connection.sendall(response(b'{"session":"s"}', status="201 Created"))
                    continue
                self.requests.append("\n".join(head))
                self.reply(connection, json.loads(body)["tool"] if body else "tool")

    def close(self) -> None:
        self._listener.close()


class Pipe(Server):
    """TLS in front of a real gate."""

    def __init__(self, context: ssl.SSLContext, url: str) -> None:
        self._to = int(url.rpartition(":")[2])
        super().__init__(context)

    def converse(self, connection: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._to)) as gate:
            back = threading.Thread(target=_copy, args=(gate, connection), daemon=True)
            back.start()
            _copy(connection, gate)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def response(body: bytes, status: str = "200 OK", kind: str = "application/json", extra: str = "") -> bytes:
    """Returns the bytes of a response."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode() + body


def allowed(tool: str, **other: Any) -> bytes:
    """Returns the bytes of a response that allows a call with the arguments {}."""
    return response(json.dumps(answer(tool, "{}", **other)).encode())


@contextmanager
def served(context: Optional[ssl.SSLContext] = None) -> Iterator[Server]:
    server = Server(context)
    try:
        yield server
    finally:
        server.close()
