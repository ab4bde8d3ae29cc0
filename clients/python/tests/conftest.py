"""Gates for the tests: a real one where the program is built, and a relay that misbehaves."""

from __future__ import annotations

import pathlib
import shlex
import sys
from collections.abc import Callable, Iterator

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
