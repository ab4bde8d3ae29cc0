"""Makes the modules of the harness importable, gives tests a machine, and keeps hosts from the network."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# Frameworks send usage data when they are imported or run. Nothing of it leaves the tests.
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false", OTEL_SDK_DISABLED="true", ANONYMIZED_TELEMETRY="False")

from machine import Machine, machine  # noqa: E402


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine whose directories the environment of the test names."""
    with machine() as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(made.project)
        yield made


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test whose process connects to another machine, or looks its name up, whatever becomes of the error."""
    tried: list[Any] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not _here(address[0]):
            tried.append(address)
            raise ConnectionRefusedError(f"tests connect to no other machine: {address}")
        connect(self, address)

    def looked(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _here(host):
            tried.append(host)
            raise socket.gaierror(f"tests look up no other machine: {host}")
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", looked)
    yield
    assert not tried, f"the test connects to {tried}"


def _here(host: Any) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
