"""The server of policies: what it accepts, and what it answers otherwise."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from stopgate_client.policy import Service, allow


def service() -> Service:
    s = Service(version="1")
    s.gate("*")(lambda call: allow("fine"))
    return s


QUESTION = {"protocol": 1, "id": "q", "policy": "p", "ask": "gate", "call": {"proposal": "1", "tool": "x", "args": {}, "raw": "{}"}}


def post(url: str, body: Any, **headers: str) -> tuple[int, Any]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    c = http.client.HTTPConnection(host, int(port), timeout=10)
    text = body if isinstance(body, (str, bytes)) else json.dumps(body)
    c.request("POST", "/", text, {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}})
    r = c.getresponse()
    answer = r.read()
    c.close()
    return r.status, json.loads(answer)


def test_answers_repeat_the_id_and_have_the_version() -> None:
    with service().start("http://127.0.0.1:0") as s:
        want = {"protocol": 1, "id": "q", "version": "1", "decision": "allow", "reason": "fine"}
        assert post(s.url, QUESTION) == (200, want)
        assert post(s.url, {**QUESTION, "protocol": 2})[1]["error"]["code"] == "invalid_policy_result"
        assert post(s.url, {**QUESTION, "ask": "other"})[1]["error"]["code"] == "policy_error"


def test_requests_that_are_no_questions() -> None:
    with service().start("http://127.0.0.1:0", token="secret") as s:
        assert post(s.url, QUESTION)[0] == 401
        assert post(s.url, QUESTION, Authorization="Bearer secreT")[0] == 401
        assert post(s.url, QUESTION, Authorization="Bearer secret")[0] == 200
        assert post(s.url, "[]", Authorization="Bearer secret")[0] == 400
        assert post(s.url, QUESTION, Authorization="Bearer secret", Content_Type="text/plain")[0] == 415


def test_socket_is_private_and_replaced_only_if_nobody_serves_it(tmp_path: Path) -> None:
    path = tmp_path / "p"
    first = service().start(f"unix://{path}")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with pytest.raises(OSError, match="another process"):
        service().start(f"unix://{path}")
    first.close()
    assert not path.exists()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    service().start(f"unix://{path}").close()
    path.write_text("a file")
    with pytest.raises(OSError, match="no socket"):
        service().start(f"unix://{path}")


@pytest.mark.parametrize("url", ["http://0.0.0.0:1", "http://example.com:1", "unix://relative/p", "https://127.0.0.1:1", "p.sock"])
def test_only_this_machine(url: str) -> None:
    with pytest.raises(ValueError, match="want unix"):
        service().start(url)


def test_an_answer_that_is_no_json_denies() -> None:
    s = Service(version="1")

    @s.session
    class Odd:
        tools = ("*",)

        def check(self, call: Any, state: Any) -> Any:
            return allow()

        def on_result(self, call: Any, result: Any, state: Any) -> None:
            state["x"] = float("nan")

    with s.start("http://127.0.0.1:0") as server:
        result = {"status": "succeeded", "observed": True, "bytes": 0, "content": ""}
        q = {**QUESTION, "ask": "session_result", "state": None, "data": None, "result": result}
        assert post(server.url, q)[1]["error"]["code"] == "invalid_policy_result"


@pytest.mark.parametrize("version", ["", "x" * 129, "a\nb"])
def test_version(version: str) -> None:
    with pytest.raises(ValueError, match="version"):
        Service(version=version)
