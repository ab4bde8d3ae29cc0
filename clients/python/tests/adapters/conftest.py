"""Makes the modules of the harness importable: script, tools, cases, machine, driver, provider, examples."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from machine import Machine, machine


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine of the test's own, in whose project the test runs."""
    with machine() as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(made.project)
        yield made
