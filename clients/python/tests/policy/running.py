"""A real stopgate for the tests of policies: `stopgate up` with its built-in model."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from stopgate_client.policy import Service

TOKEN = "0123456789abcdef0123"
RULES = """
[api.tokens.test]
scopes = ["decide", "observe", "operate"]
env = "TEST_TOKEN"
[tools."*"]
unknown_params = "allow"
uncovered = "allow"
run = [{ mode = "unattended" }]
[[handoffs]]
to = "*"
mode = "unattended"
tool = "transfer_to_*"
"""


def binary() -> str:
    """Return the built program: STOPGATE_BINARY, or bin/stopgate of the checkout."""
    path = os.environ.get("STOPGATE_BINARY") or str(Path(__file__).resolve().parents[4] / "bin" / "stopgate")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{path} is missing: make build")
    return path


def table(url: str, hooks: list[str], **more: str) -> str:
    """Return a policy file with the table of a service."""
    extra = "".join(f"{k} = {json.dumps(v)}\n" for k, v in more.items())
    return f'version = 1\n[[external]]\nname = "ext"\nurl = {json.dumps(url)}\nhooks = {json.dumps(hooks)}\n{extra}{RULES}'


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("socket", timeout=30)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Running:
    """A gateway with the decision API, in a directory of its own."""

    def __init__(self, policy: str, *args: str) -> None:
        self.dir = Path(tempfile.mkdtemp(prefix="sg-", dir="/tmp"))
        self.policy = self.dir / "p.toml"
        self.policy.write_text(policy)
        self.args = args
        self.start()

    def start(self) -> None:
        """Start the program, after stop once more with the same state."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "STOPGATE_"))}
        env |= {"HOME": str(self.dir), "XDG_STATE_HOME": str(self.dir / "s"), "TEST_TOKEN": TOKEN}
        self.process = subprocess.Popen(
            [binary(), "up", "--policy", str(self.policy), "--listen", f"127.0.0.1:{self.port}", "--api-socket", str(self.dir / "a"), *self.args],
            cwd=self.dir, env=env, stdout=subprocess.DEVNULL, stderr=(self.dir / "log").open("w"),
        )
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                _Unix(str(self.dir / "a")).connect()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((self.dir / "log").read_text()) from None
                time.sleep(0.05)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def stop(self) -> None:
        """End the program."""
        self.process.terminate()
        self.process.wait(20)

    def api(self, path: str, body: Any, method: str = "POST") -> Any:
        """Ask the decision API."""
        c = _Unix(str(self.dir / "a"))
        c.request(method, path, json.dumps(body), {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
        r = c.getresponse()
        text = r.read()
        c.close()
        if r.status >= 400:
            raise RuntimeError(f"{path}: {r.status} {text!r}")
        return json.loads(text) if text else None

    def decide(self, tool: str, args: Any, session: str = "s", **more: Any) -> Any:
        """Decide one call of a tool that the request declares."""
        definition = {"parameters": {"type": "object"}}
        return self.api("/v1/calls", {"tool": tool, "args": args, "session": session, "definition": definition, **more})

    def ran(self, decision: Any, result: str = "ok") -> None:
        """Report the result of a call."""
        self.api(f"/v1/calls/{decision['id']}/result", {"data": result, "failed": False})

    def rows(self) -> list[dict[str, Any]]:
        """Return the audit rows so far."""
        rows: list[dict[str, Any]] = self.api("/v1/records", None, "GET")["records"]
        return rows

    def chat(self, stream: bool = False) -> tuple[int, str]:
        """Send a request of Chat Completions through the gateway, and return status and text."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        names = ["good", "bad", "later"]
        tools = [{"type": "function", "function": {"name": n, "parameters": {"type": "object"}}} for n in names]
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": stream, "tools": tools}
        c.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json", "Authorization": "Bearer k"})
        r = c.getresponse()
        try:
            text = r.read()
        except http.client.IncompleteRead as cut:  # the response ended as a failure
            text = cut.partial
        c.close()
        return r.status, text.decode()


def serve(service: Service) -> tuple[Any, str]:
    """Start a service on a socket of its own, and return it with its URL."""
    directory = tempfile.mkdtemp(prefix="sgp-", dir="/tmp")
    server = service.start(f"unix://{directory}/p")
    return server, server.url
