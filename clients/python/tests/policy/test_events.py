"""The event policies of the examples in exchanges of the real gateway, streamed and not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from stopgate_client.policy import EventPolicy, Rejected, Service

from .examples import ContentOnly, NoOp, Shout, ToolCallJudge
from .running import Running, serve, table

CALLS = ["good", "bad", "later"]


class Model(BaseHTTPRequestHandler):
    """A provider that answers every request with a text and three calls."""

    def do_POST(self) -> None:  # noqa: N802
        streamed = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["stream"]
        calls = [{"index": i, "id": f"c{i}", "type": "function", "function": {"name": n, "arguments": "{}"}} for i, n in enumerate(CALLS)]
        head = {"id": "r", "created": 1, "model": "m"}
        if streamed:
            deltas: list[Any] = [{"role": "assistant", "content": "hel"}, {"content": "lo"}] + [{"tool_calls": [c]} for c in calls]
            chunks = [{**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
            chunks.append({**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
            text = "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"
        else:
            for c in calls:
                del c["index"]
            message = {"role": "assistant", "content": "hello", "tool_calls": calls}
            choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
            text = json.dumps({**head, "object": "chat.completion", "choices": choices})
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def gateway(policy: EventPolicy, **more: str) -> Iterator[Running]:
    """Run a gateway with an event policy between a client and the model."""
    service = Service(version="1")
    service.events(policy)
    hooks = service.hooks() or ["stream_complete"]
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    server, url = serve(service)
    try:
        with server, Running(table(url, hooks, **more), "--openai-upstream", f"http://127.0.0.1:{model.server_port}/v1") as gate:
            yield gate
    finally:
        model.shutdown()


def read(answer: str, stream: bool) -> tuple[str, list[str], str]:
    """Return the text, the names of the calls and the finish reason of an answer."""
    if not stream:
        choice = json.loads(answer)["choices"][0]
        calls = choice["message"].get("tool_calls") or []
        return choice["message"].get("content") or "", [c["function"]["name"] for c in calls], choice["finish_reason"]
    text, names, reason = "", [], ""
    for line in answer.splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content") or ""
                names += [c["function"]["name"] for c in choice["delta"].get("tool_calls") or [] if c["function"].get("name")]
                reason = choice.get("finish_reason") or reason
    return text, names, reason


@pytest.mark.parametrize("stream", [True, False])
def test_noop_is_transparent(stream: bool) -> None:
    """Proves V3-12, V3-17: without hooks everything passes."""
    with gateway(NoOp()) as gate:
        status, answer = gate.chat(stream)
        assert (status, read(answer, stream)) == (200, ("hello", CALLS, "tool_calls"))


@pytest.mark.parametrize("stream", [True, False])
def test_content_only(stream: bool) -> None:
    """Proves V3-18: calls are dropped, and the answer ends with stop."""
    with gateway(ContentOnly()) as gate:
        text, calls, reason = read(gate.chat(stream)[1], stream)
        assert text.startswith("hello") and calls == [] and reason == "stop"


@pytest.mark.parametrize("stream", [True, False])
def test_content_is_transformed(stream: bool) -> None:
    """Proves V3-10, V3-29: the text is another, the calls are the same."""
    with gateway(Shout()) as gate:
        assert read(gate.chat(stream)[1], stream)[:2] == ("HELLO", CALLS)
        row = next(r for r in gate.rows() if r.get("event") == "external")["external"][0]
        assert (row["hook"], row["answer"]) == ("content_delta", "changed") and row["count"] >= 1


@pytest.mark.parametrize("stream", [True, False])
def test_tool_call_judge(stream: bool) -> None:
    """Proves V3-13, V3-19 to V3-24: the first harmful call ends the output, later ones are skipped."""
    judge = ToolCallJudge(lambda call: 0.9 if call.name == "bad" else 0.1)
    with gateway(judge) as gate:
        text, calls, _ = read(gate.chat(stream)[1], stream)
        assert calls == ["good"] and "BLOCKED: bad - it is harmful" in text
        assert judge.emitted == ["2 judged, 1 blocked, 1 skipped"]


def test_a_request_is_refused_or_changed() -> None:
    """Proves V3-11: a policy refuses a request, and the client reads why."""
    class Refuses(EventPolicy):
        def on_request(self, request: Any, exchange: Any) -> Any:
            raise Rejected("Not at night.", 429)

    with gateway(Refuses()) as gate:
        status, answer = gate.chat()
        assert status == 429 and "Not at night." in answer
        row = next(r for r in gate.rows() if r.get("event") == "external")["external"][0]
        assert (row["hook"], row["answer"], row["code"]) == ("request", "rejected", "request_rejected")


def test_a_hook_that_fails_ends_the_response() -> None:
    """Proves FM15: nothing of a text that the policy did not send is sent, and no call runs."""
    class Fails(EventPolicy):
        def on_content_delta(self, delta: str, block: Any, exchange: Any, stream: Any) -> None:
            raise RuntimeError("no")

    with gateway(Fails()) as gate:
        for stream in (True, False):
            _, answer = gate.chat(stream)
            assert "hel" not in answer and '"good"' not in answer
