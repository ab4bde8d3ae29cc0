"""RFC-0002: deterministic gates, as a matrix over the decision API."""

from kit import Gate, expect, home

POLICY = """version = 1
[gate]
deny_mode = "tool_result"

[tools.pay.parameters]
amount = { type = "number", required = true }
[tools.pay.policy]
run = [
  { arg = "/amount", maximum = 100, mode = "unattended" },
  { mode = "deny", reason = "Payments above 100 need a person." },
]

[[handoffs]]
from = "triage"
to = "billing"
mode = "unattended"

[[handoffs]]
from = "triage"
to = "legal"
mode = "deny"
reason = "Legal is closed."
"""

with home(), Gate(POLICY) as gate:
    turn = 0

    def envelope(answer):
        return answer["envelope"]

    def handoff(to):
        global turn
        turn += 1
        return gate.api("POST", "/v1/handoffs", {"from": "triage", "to": to, "payload": {"order": "A-17"}, "session": "s", "turn": f"h{turn}"})

    # 1, 10: allowed; the result is the data of the envelope.
    a = gate.call("pay", {"amount": 10}, session="s", agent="triage", turn="1")
    expect((a["status"], a["args"]), ("allowed", {"amount": 10}), "tool allow")
    expect(envelope(gate.ran(a, "paid")), {"status": "ok", "code": None, "publicReason": None, "data": "paid"}, "envelope")

    # 2, 8: denied softly, with the code and the public reason.
    a = gate.call("pay", {"amount": 1000}, session="s", agent="triage", turn="2")
    expect(a["status"], "denied", "tool deny")
    expect(envelope(a), {"status": "denied", "code": "rule_matched", "publicReason": "Payments above 100 need a person.", "data": None}, "denied envelope")

    # 3: what no policy names.
    a = gate.call("delete_account", {}, session="s", agent="triage", turn="3")
    expect((a["status"], envelope(a)["code"]), ("denied", "policy_not_configured"), "tool missing policy")

    # 4, 5, 9: handoffs.
    a = handoff("billing")
    expect((a["status"], envelope(a)["status"], envelope(a)["data"]), ("allowed", "ok", {"order": "A-17"}), "handoff allow")
    a = handoff("legal")
    expect((a["status"], envelope(a)["publicReason"], envelope(a)["data"]), ("denied", "Legal is closed.", None), "handoff deny")
    expect(envelope(handoff("sales"))["code"], "policy_not_configured", "handoff missing policy")

    # 7: arguments that are no JSON are decided by no policy.
    a = gate.api("POST", "/v1/calls", {"tool": "pay", "raw": '{"amount":10', "session": "s", "turn": "4"})
    expect((a["status"], envelope(a)["code"]), ("denied", "truncated_arguments"), "invalid arguments")

    # Each proposal has one row with agent, turn, tool, decision, reason and the policy's hash.
    rows = [r for r in gate.rows() if r["kind"] in ("decision", "handoff")]
    expect(len(rows), 7, "a row for each proposal")
    expect(len({r["policy"] for r in rows}), 1, "the same policy")
    row = rows[1]
    expect((row["agent"], row["turn"], row["tool"], row["status"]), ("triage", "2", "pay", "denied"), str(row))
