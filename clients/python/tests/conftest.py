"""Gates for the tests: a real one where the program is built, and a relay that misbehaves."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import stopgate_client
from stopgate_client import Gate

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def fake_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Returns a function that makes a program which behaves as fake_relay.py in a mode."""

    def make(mode: str = "well") -> str:
        path = tmp_path_factory.mktemp("fake") / "stopgate"
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {HERE / "fake_relay.py"} {mode} "$@"\n')
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture(scope="module")
def fake(fake_program: Callable[[str], str]) -> Iterator[Gate]:
    """A gate over the relay that misbehaves as the name of the tool says."""
    with stopgate_client.local(binary=fake_program("well"), timeout=1.0) as gate:
        yield gate


@pytest.fixture(scope="session")
def program() -> str:
    """The built program: STOPGATE_BINARY, or bin/stopgate of the checkout."""
    path = os.environ.get("STOPGATE_BINARY") or str(HERE.parents[2] / "bin" / "stopgate")
    assert os.access(path, os.X_OK), f"{path} is missing: make build"
    return path


@pytest.fixture(scope="module")
def state() -> Iterator[pathlib.Path]:
    """A state directory for the gates of a module. The path of a socket has to be short."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="sg-", dir="/tmp"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(path))
        patch.delenv("XDG_RUNTIME_DIR", raising=False)
        yield path
    for pid in gates_of(path):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(path, ignore_errors=True)


def gates_of(state: pathlib.Path) -> list[int]:
    """Returns the gates that were started with policies below a directory."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if line[1:2] == ["serve"] and any(str(state) in word for word in line):
            found.append(int(process.name))
    return found


@pytest.fixture(scope="module")
def started(program: str, state: pathlib.Path) -> Iterator[Callable[..., Gate]]:
    """Returns a function that starts a gate with a policy, by its text."""
    gates: list[Gate] = []

    def start(policy: str, **options: Any) -> Gate:
        gate = stopgate_client.local(**options_of(program, state, policy), **options)
        gates.append(gate)
        return gate

    yield start
    for gate in gates:
        gate.close()


def options_of(program: str, state: pathlib.Path, policy: str) -> dict[str, Any]:
    """Returns the options of a gate with a policy, by its text."""
    directory = state / f"p{abs(hash(policy)):x}"
    directory.mkdir(exist_ok=True)
    (directory / "stopgate.toml").write_text(policy)
    return {"binary": program, "policy": directory / "stopgate.toml", "project": directory}
