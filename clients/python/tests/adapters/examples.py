"""Runs the programs of examples/python, and compares the code of the pages with them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping

from machine import CLIENTS, machine

ROOT = CLIENTS.parent
READS = "ran: read_order 7\nran: refund 7 20\nasked: refund 120: A person looks at more than 50.\nran: refund 7 120\n"
ORDERS = [("read_order", {"order": "7"}), *(("refund", {"order": "7", "amount": amount}) for amount in (20, 120, 900))]
REFUSED = "[stopgate] The tool call `refund` was not run: Nobody refunds more than 200 (rule_matched).\n"


def prints(program: str, last: str = "model: " + REFUSED, env: Mapping[str, str] | None = None) -> None:
    """Require that a program of examples/python prints what README.md there shows, and `last` at its end."""
    with machine() as home:
        path = f"{ROOT}/clients/python/src"
        inherited = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
        search = f"{home.home}:{inherited.get('PATH', '')}"
        known = {"PYTHONPATH": path, **inherited, **home.environment(), "PATH": search, **(env or {})}
        ran = subprocess.run(
            [sys.executable, ROOT / "examples" / "python" / program], env=known, cwd=home.project, capture_output=True, text=True, timeout=120
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == READS + last


def shows(page: str, program: str) -> None:
    """Require that every block of Python on a page of docs/adapters is a part of a program of examples/python."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "adapters" / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = _lines((ROOT / "examples" / "python" / program).read_text(encoding="utf-8"))
    assert blocks, f"{page} has no block of Python"
    for block in blocks:
        for part in textwrap.dedent(block).split("\n\n"):
            assert _lines(part) in lines, f"{page}: not in {program}:\n{part}"


def _lines(text: str) -> str:
    return "\n" + "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"
