"""RFD D26: the policy is evaluated while the arguments stream."""

import json

from kit import Gate, Provider, call, expect, home, more, seen

POLICY = """version = 1
[tools.create.parameters]
path = { type = "path", required = true }
content = { type = "string" }
[tools.create.policy]
run = [
  { arg = "/path", prefix = "secret/", mode = "deny", reason = "secrets stay out of reach" },
  { arg = "/path", prefix = "src/", mode = "unattended" },
  { mode = "ask" },
]
[api.tokens.anna]
scopes = ["approve"]
env = "ANNA_TOKEN"
[approvals]
absent = "defer"
"""
TOKEN = "3d1c3a7e5b9f48c2"
LONG = "x" * 5000


def speak(request, send):
    """One call whose content has no end, or the same with a second call that has begun before it."""
    two = request["messages"][0]["content"] == "two calls"
    send(call(0, "create", ""))
    if two:
        send(call(1, "create", '{"path":"src/b"'))
    for piece in ['{"pa', 'th":"secret/a"', ',"content":"', LONG]:
        send(more(0, piece))
    if two:
        send(more(0, '"}'))
        send(more(1, "}"))
        send({}, "tool_calls")
        return
    while True:
        send(more(0, LONG))  # until the gateway closes the connection


with home(), Provider(speak) as provider, Gate(POLICY, provider.url, ANNA_TOKEN=TOKEN) as gate:
    # A verdict is a line of the answer while the body is still being written.
    a = gate.stream({"tool": "create", "session": "s"})
    a.write('{"path":"secret/')
    a.write('a","content":"')
    v = a.line()["verdict"]
    expect((v["mode"], v["decided_at"]), ("deny", 18), "refused at the path")
    a.close()

    a = gate.stream({"tool": "create", "session": "s"})
    a.write('{"path":"src/a"')
    v = a.line()["verdict"]
    expect(v["mode"], "unattended", "a provisional permission")
    a.write(',"content":"' + LONG + '"}')
    a.end()
    last = None
    while (line := a.line()) is not None:
        last = line
    expect(last["call"]["status"], "allowed", "the call runs when it is complete")
    expect(last["call"]["args"], {"path": "src/a", "content": LONG}, "all of it runs")
    a.close()

    a = gate.stream({"tool": "create", "session": "s"})
    a.write('{"path":"src/a"')
    expect(a.line()["verdict"]["mode"], "unattended", "a provisional permission")
    a.write(',"path":"secret/b"}')
    a.end()
    expect(a.line()["verdict"]["code"], "duplicate_key", "what follows can only tighten")
    a.close()

    # The same verdict at the same byte, however the text is cut; later where the path comes last.
    text = '{"path":"secret/\\u0061","content":"é"}'
    for size in (1, 2, 3, 7, 100):
        a = gate.stream({"tool": "create", "session": "s"})
        data = text.encode()
        try:
            for i in range(0, len(data), size):
                a.write(data[i:i + size])
        except OSError:
            pass  # the answer has ended
        expect(a.line()["verdict"]["decided_at"], 23, f"pieces of {size} bytes")
        a.close()

    # A question is open while the content is being written, and a no ends the call.
    a = gate.stream({"tool": "create", "session": "asked"})
    a.write('{"path":"README","content":"')
    expect(a.line()["verdict"]["mode"], "ask", "asked at the path")
    with gate.watching(TOKEN) as questions:
        waiting = next(questions)
        while not waiting:
            waiting = next(questions)
        expect((waiting[0]["complete"], waiting[0]["received"]), (False, 28), "the call is not complete")
        gate.api("POST", f"/v1/approvals/{waiting[0]['id']}", {"answer": "deny"}, token=TOKEN)
    line = a.line()
    while line is not None and line.get("verdict", {}).get("code") != "approval_declined" and "call" not in line:
        line = a.line()
    expect("approval_declined" in json.dumps(line), True, "declined before the end")
    a.close()

    # Through the gateway: a refused call that is the only one stops the model.
    words, calls, finish = seen(gate.ask([{"role": "user", "content": "one call"}], ["create"]))
    expect(provider.cancelled.wait(30), True, "the model is stopped")
    expect((calls, finish), ([], "stop"), "no call is left")
    expect("`create` was not run: secrets stay out of reach" in words, True, words)

    # With another call in flight the stream goes on, and only the refused one is discarded.
    words, calls, finish = seen(gate.ask([{"role": "user", "content": "two calls"}], ["create"]))
    expect(([json.loads(a)["path"] for _, a in calls], finish), (["src/b"], "tool_calls"), "the other call runs: " + words)
