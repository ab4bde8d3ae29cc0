"""The generated models are current."""

from __future__ import annotations

import subprocess
import sys

from conftest import HERE


def test_models_are_current() -> None:
    subprocess.run([sys.executable, HERE.parent / "scripts" / "models.py", "--check"], check=True)
