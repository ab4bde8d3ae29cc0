"""The session policies of the examples, against a real stopgate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stopgate_client.policy import Service, allow

from .examples import ApprovalRequired, Conditional, KeyedDependency, ReadBeforeWrite, ReviewBeforeMerge, SequentialDependency
from .running import Running, serve, table


@contextmanager
def governed(*policies: Any) -> Iterator[Running]:
    """Run a gate with session policies of a service."""
    service = Service(version="1")
    for p in policies:
        service.session(p)
    server, url = serve(service)
    with server, Running(table(url, service.hooks())) as gate:
        yield gate


def succeed(gate: Running, tool: str, args: Any, session: str = "s") -> None:
    d = gate.decide(tool, args, session)
    assert d["status"] == "allowed", d
    gate.ran(d)


def refused(gate: Running, tool: str, args: Any, code: str, session: str = "s") -> dict[str, Any]:
    d: dict[str, Any] = gate.decide(tool, args, session)
    assert (d["status"], d["code"]) == ("denied", code), d
    return d


def test_sequential_dependency() -> None:
    """Proves TPS-13 to TPS-16: lint, then build, then test and build, then deploy."""
    deps = {"deploy": frozenset({"test", "build"}), "build": frozenset({"lint"})}
    with governed(SequentialDependency(deps)) as gate:
        d = refused(gate, "deploy", {}, "prerequisite_missing")
        assert d["public"] == "deploy requires prior invocation of: build, test"
        refused(gate, "build", {}, "prerequisite_missing")
        for tool in ("lint", "build", "test", "deploy"):
            succeed(gate, tool, {})
        refused(gate, "deploy", {}, "prerequisite_missing", session="other")


def test_keyed_dependency() -> None:
    """Proves TPS-17 to TPS-20: a prerequisite counts for its key only."""
    by_repo = KeyedDependency({"commit": (frozenset({"lint", "test"}), lambda c: c.get("repo"))})
    with governed(by_repo) as gate:
        succeed(gate, "lint", {"repo": "a"})
        succeed(gate, "commit", {"repo": "a"})
        refused(gate, "commit", {"repo": "b"}, "prerequisite_missing")
        refused(gate, "commit", {}, "key_unavailable")


def test_read_before_write_survives_a_restart() -> None:
    """Proves TPS-21, TPS-22, TPS-29: the state is kept with the session."""
    with governed(ReadBeforeWrite()) as gate:
        refused(gate, "write_file", {"path": "config.yaml"}, "prerequisite_missing")
        succeed(gate, "read_file", {"path": "config.yaml"})
        gate.stop()
        gate.start()
        succeed(gate, "edit_file", {"file_path": "config.yaml"})
        refused(gate, "write_file", {"path": "other.yaml"}, "prerequisite_missing")
        answers = [r["external"][0]["answer"] for r in gate.rows() if r.get("kind") == "decision"]
        assert answers == ["deny", "allow", "allow", "deny"]


def test_review_before_merge_and_restore() -> None:
    """Proves TPS-25, TPS-30: a restore takes the approval back."""
    with governed(ReviewBeforeMerge()) as gate:
        refused(gate, "merge_pr", {"pr_id": 7}, "review_required")
        sealed = gate.api("/v1/sessions/s/snapshot", {})
        succeed(gate, "approve_pr", {"pr_id": 7})
        succeed(gate, "merge_pr", {"pr_id": 7})
        refused(gate, "merge_pr", {"pr_id": 8}, "review_required")
        gate.api("/v1/sessions/s/restore", sealed)
        refused(gate, "merge_pr", {"pr_id": 7}, "review_required")


def test_conditional_and_approval() -> None:
    """Proves TPS-26, TPS-27, TPS-39: policies that look at the data of the session, by patterns."""
    strict = Conditional(ReadBeforeWrite(), lambda data: data.get("strict_mode") is True)
    with governed(strict, ApprovalRequired()) as gate:
        succeed(gate, "write_file", {"path": "a"})
        refused(gate, "destroy_all", {}, "approval_required")
        gate.api("/v1/sessions/s/data", {"strict_mode": True, "approval": {"granted": True}}, "PUT")
        refused(gate, "write_file", {"path": "a"}, "prerequisite_missing")
        succeed(gate, "destroy_all", {})


def test_all_must_allow() -> None:
    """Proves TPS-02: policies on overlapping tools, and one that fails denies."""
    class Broken:
        tools = ("lint",)

        def check(self, call: Any, state: Any) -> Any:
            return allow() if call.get("ok") else state["missing"]

    with governed(ReadBeforeWrite(), Broken()) as gate:
        succeed(gate, "lint", {"ok": True})
        refused(gate, "lint", {}, "policy_error")


@pytest.mark.parametrize("answer", [None, True, "allow", {"decision": "allow"}])
def test_no_decision(answer: Any) -> None:
    """Proves G2-09: a value that is no decision denies."""
    class Odd:
        tools = ("*",)

        def check(self, call: Any, state: Any) -> Any:
            return answer

    with governed(Odd()) as gate:
        refused(gate, "x", {}, "invalid_policy_result")
