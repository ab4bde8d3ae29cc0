"""A relay with a gate that does what the name of the tool says: a double for faults that a real gate does not have.

    fake_relay.py [MODE] connect ...

MODE is a fault of the relay itself: refuse (an error instead of a hello), silent (no hello), old
(another protocol), babble (no frames).
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

JSON = {"content-type": "application/json"}


def write(frame: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def answer(tool: str, text: str, **other: Any) -> dict[str, Any]:
    return {
        "id": "c-" + tool, "tool": tool, "status": "allowed", "mode": "unattended", "code": "rule_matched", "decided_at": 1,
        "bytes": len(text.encode()), "enforced": True, "args_text": text,
        "envelope": {"status": "ok", "code": None, "publicReason": None, "data": None}, **other,
    }


def denied(tool: str, **other: Any) -> dict[str, Any]:
    found = answer(tool, "", status="denied", mode="deny", public="no.", **other)
    del found["args_text"]
    return {**found, "envelope": {"status": "denied", "code": "rule_matched", "publicReason": "no.", "data": None}}


def decide(number: int, body: dict[str, Any]) -> None:
    """Answers a proposal: most tools are wrong in one way, `slow` is answered after the next request."""
    tool, text = body["tool"], body.get("raw", "{}")
    ok = answer(tool, text)
    faults: dict[str, Any] = {
        "other_tool": {**ok, "tool": "x"},
        "no_text": {k: v for k, v in ok.items() if k != "args_text"},
        "deny_mode": {**ok, "mode": "deny"},
        "deny_envelope": {**ok, "envelope": {"status": "denied", "code": "x", "publicReason": "x", "data": None}},
        "maybe": {**ok, "status": "maybe"},
        "number": {**ok, "enforced": 1},
        "pending": {**ok, "status": "pending"},
        "list": [ok],
        "deny": denied(tool),
        "edited": {**ok, "args_text": '{"path":"edited"}'},
        "default_lost": {**ok, "args_text": "{}"},
        "huge_number": {**ok, "args_text": '{"path":1e999}'},
        "rounded": {**ok, "args_text": '{"path":0.30000000000000000001}'},
        "twice": {**ok, "args_text": '{"path":1,"path":2}'},
    }
    if tool in ("swapped", "later"):
        pending = {**ok, "status": "pending", "mode": "ask", "envelope": None, "args_text": None}
        return write({"id": number, "status": 202, "headers": JSON, "body": json.dumps(pending)})
    if tool == "parts":  # as the relay sends a response that does not fit into a frame
        whole = json.dumps(ok)
        write({"id": number, "status": 200, "headers": JSON, "open": True})
        for i in range(0, len(whole), 100_000):
            write({"id": number, "body": whole[i : i + 100_000]})
        return write({"id": number, "end": True})
    if tool == "parts_lost":
        write({"id": number, "status": 200, "headers": JSON, "open": True})
        write({"id": number, "body": json.dumps(ok)})
        return write({"id": number, "error": {"code": "gate_lost", "detail": "it ended"}})
    if tool == "hang":
        return
    if tool == "die":
        sys.exit(3)
    if tool == "die_late":
        time.sleep(0.2)
        os._exit(3)
    if tool == "page":
        return write({"id": number, "status": 200, "headers": {"content-type": "text/html"}, "body": "<p>"})
    if tool == "proxy":
        return write({"id": number, "status": 502, "headers": {"content-type": "text/html"}, "body": "<p>"})
    if tool == "problem":
        problem = {"title": "x", "status": 409, "code": "idempotency_conflict", "detail": "another call"}
        return write({"id": number, "status": 409, "headers": {"content-type": "application/problem+json"}, "body": json.dumps(problem)})
    if tool == "nonsense":
        print("nonsense", flush=True)
        return
    if tool == "stranger":
        return write({"id": number + 1000, "status": 200, "headers": JSON, "body": json.dumps(ok)})
    if tool == "gate_gone":
        return write({"id": number, "error": {"code": "gate_unreachable", "detail": "it ended"}})
    if tool == "half":
        return write({"id": number, "status": 200, "headers": JSON, "body": json.dumps(ok)[:-1]})
    write({"id": number, "status": 200, "headers": JSON, "body": json.dumps(faults.get(tool, ok))})


class Stream:
    """A streamed call: its tool says how it goes wrong, else the text `bad` in the arguments is refused."""

    def __init__(self, number: int, first: str) -> None:
        self.number, self.tool, self.text, self.over = number, json.loads(first)["tool"], "", False
        if self.tool == "refused_request":
            body = {"title": "x", "status": 400, "code": "too_long", "detail": "d"}
            write({"id": number, "status": 400, "headers": {"content-type": "application/problem+json"}, "body": json.dumps(body)})
            self.over = True
        else:
            write({"id": number, "status": 200, "headers": {"content-type": "application/x-ndjson"}, "open": True})
        if self.tool == "early_yes":
            self.decide(answer(self.tool, "{}"))

    def decide(self, found: dict[str, Any]) -> None:
        text = json.dumps({"call": found}) + "\n"
        write({"id": self.number, "body": text[:20]})
        write({"id": self.number, "body": text[20:]})
        write({"id": self.number, "end": True})
        self.over = True

    def feed(self, text: str, end: bool) -> None:
        self.text += text
        if self.over:
            return
        if "bad" in self.text:
            verdict = {"mode": "deny", "decided_at": len(self.text), "code": "rule_matched", "public": "no."}
            write({"id": self.number, "body": json.dumps({"verdict": verdict, "received": len(self.text)}) + "\n"})
            return self.decide(denied(self.tool))
        if not end:
            verdict = {"mode": "unattended", "decided_at": len(self.text)}
            return write({"id": self.number, "body": json.dumps({"verdict": verdict, "received": len(self.text)}) + "\n"})
        if self.tool == "cut":
            write({"id": self.number, "body": '{"call":{"id"'})
            write({"id": self.number, "end": True})
        elif self.tool == "nothing":
            write({"id": self.number, "end": True})
        elif self.tool == "two":
            text = json.dumps({"call": answer(self.tool, self.text)}) + "\n"
            write({"id": self.number, "body": text + text})
        elif self.tool != "hang":
            self.decide(answer(self.tool, self.text))


def main() -> None:
    mode = sys.argv[1]
    if mode == "refuse":
        write({"error": {"code": "not_the_same_user", "detail": "the gate is of another user"}})
        sys.exit(1)
    if mode == "silent":
        time.sleep(60)
    if mode == "babble":
        print("hello, world", flush=True)
    write({"hello": {"protocol": 2 if mode == "old" else 1, "version": "fake", "gate": {"policies": []}}})
    streams: dict[int, Stream] = {}
    sessions = 0
    for line in sys.stdin:
        frame = json.loads(line)
        number, path, body = frame["id"], frame.get("path", ""), frame.get("body")
        if frame.get("cancel"):
            streams.pop(number, None)
        elif path == "/v1/calls":
            decide(number, json.loads(body))
        elif path == "/v1/calls/stream":
            streams[number] = Stream(number, body)
        elif number in streams:
            streams[number].feed(body, frame.get("end", False))
        elif path == "/v1/sessions":
            sessions += 1
            found = {"session": (json.loads(body) if body else {}).get("session", f"s{sessions}"), "key": f"sgk_{sessions}"}
            write({"id": number, "status": 201, "headers": JSON, "body": json.dumps(found)})
        elif frame.get("method") == "GET" and path.startswith("/v1/calls/c-"):
            tool = path.removeprefix("/v1/calls/c-")
            found = answer(tool, "{}", **({"id": "c-another"} if tool == "swapped" else {}))
            write({"id": number, "status": 200, "headers": JSON, "body": json.dumps(found)})
        elif path.endswith("/result"):
            report = json.loads(body)
            tool = path.split("/")[3].removeprefix("c-")
            data = {"withheld": "", "filtered": "[filtered]"}.get(tool, report.get("data", ""))
            ok = tool != "withheld"
            envelope = {"status": "ok" if ok else "denied", "code": None if ok else "result_withheld", "publicReason": None, "data": None}
            found = {"mode": "unattended" if ok else "deny", "delivered": ok, "data": data, "envelope": envelope}
            write({"id": number, "status": 200, "headers": JSON, "body": json.dumps(found)})
        else:
            write({"id": number, "status": 204, "headers": {}, "body": ""})


if __name__ == "__main__":
    main()
