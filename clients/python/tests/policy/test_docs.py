"""The programs of docs/external-policies.md run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from stopgate_client.policy import Service

from .running import Running, serve, table

PAGE = Path(__file__).resolve().parents[4] / "docs" / "external-policies.md"


def program(name: str) -> Service:
    """Run a program of the page up to the call that serves, and return its service."""
    found = re.search(rf"```python {re.escape(name)}\n(.*?)```", PAGE.read_text(), re.S)
    assert found, name
    text = found[1].replace('service.serve("unix:///run/user/1000/policy.sock")\n', "")
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    service = names["service"]
    assert isinstance(service, Service)
    return service


def test_ten_lines() -> None:
    found = re.search(r"```python policy.py\n(.*?)```", PAGE.read_text(), re.S)
    assert found and len([line for line in found[1].splitlines() if line]) <= 10
    server, url = serve(program("policy.py"))
    with server, Running(table(url, ["gate"])) as gate:
        assert gate.decide("delete_file", {"path": "/tmp/a"})["status"] == "allowed"
        d = gate.decide("delete_file", {"path": "/etc/passwd"})
        assert (d["code"], d["public"]) == ("outside_tmp", "Only files below /tmp may be deleted.")


def test_state() -> None:
    service = program("session.py")
    server, url = serve(service)
    with server, Running(table(url, service.hooks())) as gate:
        assert gate.decide("write_file", {"path": "a"})["code"] == "read_required"
        gate.ran(gate.decide("read_file", {"path": "a"}))
        assert gate.decide("write_file", {"path": "a"})["status"] == "allowed"


@pytest.mark.parametrize("name", ["events.py"])
def test_events(name: str) -> None:
    assert program(name).hooks() == ["content_delta"]
