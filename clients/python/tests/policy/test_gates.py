"""Gates, handoffs and judges of a service, against a real stopgate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stopgate_client.policy import Call, Decision, Service, allow, deny, judged

from .running import Running, serve, table


@contextmanager
def served(service: Service, **more: str) -> Iterator[Running]:
    """Run a gate that asks a service."""
    server, url = serve(service)
    with server, Running(table(url, service.hooks(), **more)) as gate:
        yield gate


def test_matrix_of_gates() -> None:
    """Proves G2-21: allow, deny, missing, throws, invalid, soft denial, for tools and handoffs."""
    service = Service(version="2026-11")

    @service.gate("lookup", "broken", "odd", "soft")
    async def tools(call: Call) -> Any:
        if call.tool == "broken":
            raise KeyError("secret")
        if call.tool == "odd":
            return Decision("allow", "")
        if call.tool == "soft":
            return deny("not_now", "Try again tomorrow.", deny_mode="tool_result")
        if call.get("id") == 9007199254740993:
            return allow("known_id")
        return deny("unknown_id", "This id is not known.", id_seen="yes")

    @service.handoff("billing")
    def handoffs(call: Call) -> Decision:
        return allow("to_billing") if call.get("ticket") else deny("no_ticket", deny_mode="tool_result")

    with served(service) as gate:
        d = gate.decide("lookup", {"id": 9007199254740993})
        assert (d["status"], d["envelope"]["status"]) == ("allowed", "ok")
        for tool, code in [("lookup", "unknown_id"), ("broken", "policy_error"), ("odd", "invalid_policy_result"),
                           ("soft", "not_now"), ("other", "policy_not_configured")]:
            d = gate.decide(tool, {})
            assert (d["status"], d["code"]) == ("denied", code)
            assert (d["envelope"]["status"], d["envelope"]["code"], d["envelope"]["data"]) == ("denied", code, None)
        for n, (to, payload, code) in enumerate([("billing", {"ticket": 1}, None), ("billing", {}, "no_ticket"), ("admin", {}, "policy_not_configured")]):
            d = gate.api("/v1/handoffs", {"to": to, "payload": payload, "session": "s", "turn": f"t{n}"})
            assert (d["status"], d.get("code") if code else None) == ("denied" if code else "allowed", code), d
        rows = [r["external"][0] for r in gate.rows() if r.get("external")]
        assert len(rows) == 9 and {r["version"] for r in rows} == {"2026-11"}
        assert "secret" not in str(gate.rows())


def test_judge_only_tightens() -> None:
    """Proves V3-19: from its threshold on a judge denies, and its failure has the mode of the table."""
    service = Service(version="1")

    @service.judge("*", threshold=0.7)
    def harm(call: Call) -> Any:
        return judged(float(call.get("p")), "it looks harmful")

    with served(service) as gate:
        assert gate.decide("x", {"p": 0.6})["status"] == "allowed"
        assert gate.decide("x", {"p": 0.7})["code"] == "judge_denied"
        assert gate.decide("x", {"p": 2})["code"] == "judge_unavailable"
        assert gate.decide("x", {})["code"] == "judge_unavailable"
    with served(service, on_error="ask") as gate:
        assert gate.decide("x", {})["code"] in ("no_approver", "approval_pending")


def test_a_service_that_dies() -> None:
    """Proves G2-18: without the service nothing runs, and it may come back."""
    service = Service(version="1")
    service.gate("*")(lambda call: allow())
    server, url = serve(service)
    with Running(table(url, service.hooks())) as gate:
        assert gate.decide("x", {})["status"] == "allowed"
        server.close()
        assert gate.decide("x", {})["code"] == "policy_error"
        with service.start(url):
            assert gate.decide("x", {})["status"] == "allowed"
