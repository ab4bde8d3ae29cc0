"""A server that streams scripted events as a provider does, and notices when the client closes the stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Event = dict[str, Any]


class Provider:
    """Streams `events` to every request, `tail` as long as the client reads."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.tail: list[Event] = []
        self.closed = threading.Event()
        self.url = ""


def chat(*calls: tuple[str, list[str]], reason: str = "tool_calls") -> list[Event]:
    """The chunks of an answer of Chat Completions with calls, one after the other."""
    def chunk(delta: Any, finish: Any = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    found = [chunk({"role": "assistant", "content": None})]
    for i, (name, parts) in enumerate(calls):
        head = {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": ""}}
        found.append(chunk({"tool_calls": [head]}))
        found += [chunk({"tool_calls": [{"index": i, "function": {"arguments": part}}]}) for part in parts]
    return [*found, chunk({}, reason)] if reason else found


def responses(*calls: tuple[str, list[str]], end: str = "response.completed", copy: str = "") -> list[Event]:
    """The events of an answer of Responses. copy replaces the arguments in its copies."""
    base = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": [], "tools": [],
            "parallel_tool_calls": True, "tool_choice": "auto", "error": None, "incomplete_details": None, "instructions": None,
            "metadata": {}, "temperature": 1, "top_p": 1}
    found: list[Event] = [{"type": "response.created", "sequence_number": 0, "response": base}]
    output = []
    for i, (name, parts) in enumerate(calls):
        item = {"type": "function_call", "id": f"fc_{i}", "call_id": f"call_{i}", "name": name, "arguments": "", "status": "in_progress"}
        found.append({"type": "response.output_item.added", "sequence_number": 0, "output_index": i, "item": item})
        for part in parts:
            found.append({"type": "response.function_call_arguments.delta", "sequence_number": 0, "output_index": i,
                          "item_id": f"fc_{i}", "delta": part})
        done = {**item, "arguments": copy or "".join(parts), "status": "completed"}
        output.append(done)
        found.append({"type": "response.output_item.done", "sequence_number": 0, "output_index": i, "item": done})
    return [*found, {"type": end, "sequence_number": 0, "response": {**base, "status": "completed", "output": output}}] if end else found


def anthropic(*calls: tuple[str, list[str]], end: bool = True) -> list[Event]:
    """The events of an answer of Messages."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: Event = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": None,
               "stop_sequence": None, "usage": usage}
    found: list[Event] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for i, (name, parts) in enumerate(calls):
        block = {"type": "tool_use", "id": f"call_{i}", "name": name, "input": {}}
        found.append({"type": "content_block_start", "index": i, "content_block": block})
        for part in parts:
            delta = {"type": "input_json_delta", "partial_json": part}
            found.append({"type": "content_block_delta", "index": i, "delta": delta})
        if end:
            found.append({"type": "content_block_stop", "index": i})
    if end:
        stop: Event = {"stop_reason": "tool_use", "stop_sequence": None}
        found += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
    return found


@contextmanager
def serve() -> Iterator[Provider]:
    """Runs the server."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                for event in provider.events:
                    self._send(event)
                while provider.tail:
                    for event in provider.tail:
                        self._send(event)
            except OSError:
                provider.closed.set()

        def _send(self, event: Event) -> None:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield provider
    finally:
        provider.tail = []
        server.shutdown()
        server.server_close()
