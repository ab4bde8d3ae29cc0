"""A small HTTP server that speaks the APIs of OpenAI (Chat) and Anthropic (Messages) and plays a Script.

For hosts whose own model clients are to be tested. Requests without tools (titles, summaries, counts of
tokens) get a short text and do not advance the script.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from script import DONE, Call, Script

Events = list[tuple[str, dict[str, Any]]]


@contextmanager
def provider(script: Script, prefix: str = "") -> Iterator[str]:
    """Serve the script on a loopback port and give its base URL, without a path.

    `prefix` is put in front of the tools' names: some hosts rename tools (`mcp__server__`).
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls: Sequence[Call] = ()
            text = "ok"
            if body.get("tools"):
                script.request(json.dumps(body, ensure_ascii=False))
                calls, text = _read(script, body), DONE
            if "count_tokens" in self.path:
                self._send("application/json", json.dumps({"input_tokens": 1}))
                return
            answer = _anthropic if "/messages" in self.path else _chat
            self._send(*answer(body, [Call(c.id, prefix + c.tool, c.args) for c in calls], text))

        def do_GET(self) -> None:
            self._send("application/json", "{}")

        do_HEAD = do_GET

        def _send(self, kind: str, body: str) -> None:
            raw = body.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _read(script: Script, body: dict[str, Any]) -> Sequence[Call]:
    """Log the results of a request, and return the calls of the next turn."""
    for message in body["messages"]:
        if message["role"] == "tool":
            script.read(message["tool_call_id"], _text(message["content"]))
        elif message["role"] == "user" and isinstance(message["content"], list):
            for block in message["content"]:
                if block.get("type") == "tool_result":
                    script.read(block["tool_use_id"], _text(block.get("content")), bool(block.get("is_error")))
    return script.next()


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content)
    return content or ""


def _stream(events: Events, *, named: bool) -> tuple[str, str]:
    lines = [(f"event: {name}\n" if named else "") + f"data: {json.dumps(data)}\n\n" for name, data in events]
    return "text/event-stream", "".join(lines) + ("" if named else "data: [DONE]\n\n")


def _chat(body: dict[str, Any], calls: Sequence[Call], text: str) -> tuple[str, str]:
    head = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    tools = [
        {"index": i, "id": c.id, "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.args, ensure_ascii=False)}}
        for i, c in enumerate(calls)
    ]
    reply: dict[str, Any] = {"role": "assistant", "content": None if tools else text}
    if tools:
        reply["tool_calls"] = tools
    finish = "tool_calls" if tools else "stop"
    if not body.get("stream"):
        choice = {"index": 0, "message": reply, "finish_reason": finish}
        return "application/json", json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    head["object"] = "chat.completion.chunk"
    return _stream(
        [
            ("", {**head, "choices": [{"index": 0, "delta": reply, "finish_reason": None}]}),
            ("", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
            ("", {**head, "choices": [], "usage": usage}),
        ],
        named=False,
    )


def _anthropic(body: dict[str, Any], calls: Sequence[Call], text: str) -> tuple[str, str]:
    stop = "tool_use" if calls else "end_turn"
    blocks: list[dict[str, Any]] = [{"type": "tool_use", "id": c.id, "name": c.tool, "input": dict(c.args)} for c in calls]
    blocks = blocks or [{"type": "text", "text": text}]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
    if not body.get("stream"):
        return "application/json", json.dumps({**message, "content": blocks, "stop_reason": stop, "usage": usage})
    events: Events = [("message_start", {"message": {**message, "content": [], "stop_reason": None, "usage": usage}})]
    for i, block in enumerate(blocks):
        call = block["type"] == "tool_use"
        empty = {**block, "input": {}} if call else {**block, "text": ""}
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}
            if call
            else {"type": "text_delta", "text": block["text"]}
        )
        events += [
            ("content_block_start", {"index": i, "content_block": empty}),
            ("content_block_delta", {"index": i, "delta": delta}),
            ("content_block_stop", {"index": i}),
        ]
    events.append(("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}))
    events.append(("message_stop", {}))
    return _stream([(name, {"type": name, **data}) for name, data in events], named=True)
