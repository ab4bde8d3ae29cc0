"""Makes the modules of the harness importable: script, tools, cases, machine, driver, provider."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
