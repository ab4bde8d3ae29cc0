"""Event policies, version 3: what a gateway does with an answer, streamed and not."""

import http.server
import json
import threading

from kit import Gate, Provider, call, expect, home, more, seen

POLICY = """version = 1
[tools."*".parameters]
command = { type = "string" }
[tools."*".policy]
run = "unattended"

[judge]
model = "judge"
base_url = "%s/v1"
threshold = 0.6
explain = true
%s
"""


class Judge(http.server.BaseHTTPRequestHandler):
    """A model that finds `rm` harmful."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = json.dumps(request["messages"])
        harmful = "rm -rf" in asked
        verdict = json.dumps({"probability": 0.97 if harmful else 0.01, "explanation": "It deletes everything." if harmful else "It lists files."})
        schema = request["response_format"]["json_schema"]["schema"]
        expect(set(schema["required"]), {"probability", "explanation"}, "the form of the answer")
        body = json.dumps({"id": "j", "object": "chat.completion", "created": 1, "model": "judge", "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": verdict}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


COMMANDS = ["ls", "rm -rf /", "pwd"]


def speak(request, send):
    """Text with a key in it, and three calls."""
    if not request.get("stream"):
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "the key is sk-abcdefghij0123456789", "tool_calls": [
                {"id": f"call_{i}", "type": "function", "function": {"name": "run", "arguments": json.dumps({"command": c})}} for i, c in enumerate(COMMANDS)]}}]}
    send({"role": "assistant", "content": "the key is sk-abcde"})
    send({"content": "fghij0123456789"})
    for i, c in enumerate(COMMANDS):
        send(call(i, "run", ""))
        text = json.dumps({"command": c})
        for at in range(0, len(text), 4):
            send(more(i, text[at:at + 4]))
    send({}, "tool_calls")
    return None


judge = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Judge)
threading.Thread(target=judge.serve_forever, daemon=True).start()
JUDGE = f"http://127.0.0.1:{judge.server_port}"
ASK = [{"role": "user", "content": "go"}]


def answer(gate, stream):
    text = gate.ask(ASK, ["run"], stream=stream)
    if stream:
        return seen(text)
    choice = json.loads(text)["choices"][0]
    calls = [(c["function"]["name"], c["function"]["arguments"]) for c in choice["message"].get("tool_calls") or []]
    return choice["message"]["content"], calls, choice["finish_reason"]


with home(), Provider(speak) as provider:
    # The judge: a harmful call is replaced by a text, the others pass whole.
    with Gate(POLICY % (JUDGE, ""), provider.url) as gate:
        for stream in (True, False):
            words, calls, finish = answer(gate, stream)
            expect([json.loads(a)["command"] for _, a in calls], ["ls", "pwd"], "the calls that passed")
            expect(finish, "tool_calls", "the finish reason")
            expect("the key is sk-abcdefghij0123456789" in words, True, "text passes")
            expect("`run` was not run: " in words and "It deletes everything" in words, True, words)
        codes = [r.get("code") for r in gate.rows() if r["kind"] == "decision"]
        expect(codes.count("judge_denied"), 2, "the denials of the judge are recorded")

    # As the design has it: nothing after a block.
    with Gate(POLICY % (JUDGE, '[gateway]\non_block = "stop"'), provider.url) as gate:
        words, calls, finish = answer(gate, True)
        expect([json.loads(a)["command"] for _, a in calls], ["ls"], "calls before the block")
        codes = [r.get("code") for r in gate.rows() if r["kind"] == "decision"]
        expect("cancelled" in codes, True, f"the call after it is recorded: {codes}")

    # Content policies: a text is changed across chunks; a model that only talks.
    policies = '[[gateway.policies]]\ntype = "redact"\nname = "keys"\npatterns = ["sk-[a-z0-9]{20}"]\n'
    with Gate(POLICY % (JUDGE, policies), provider.url) as gate:
        for stream in (True, False):
            expect(answer(gate, stream)[0].startswith("the key is [redacted]"), True, "a text is changed")
    policies = '[[gateway.policies]]\ntype = "content_only"\n'
    with Gate(POLICY % (JUDGE, policies), provider.url) as gate:
        for stream in (True, False):
            words, calls, finish = answer(gate, stream)
            expect((calls, finish), ([], "stop"), "no call passes")
            expect("the key is" in words, True, "the text does")
        codes = {r.get("code") for r in gate.rows() if r["kind"] == "decision"}
        expect(codes, {"policy_dropped"}, "each dropped call has its row")
judge.shutdown()
