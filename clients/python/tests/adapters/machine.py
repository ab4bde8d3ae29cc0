"""A home with its own copy of the program `stopgate`, so that a test can end everything that the copy runs."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[3]
POLICY = CLIENTS / "testdata" / "adapters.toml"
ROWS = CLIENTS / "build" / "cases"


def built() -> Path:
    """Return the built program: STOPGATE_BINARY, else bin/stopgate of the repository."""
    path = Path(os.environ.get("STOPGATE_BINARY") or CLIENTS.parent / "bin" / "stopgate")
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: run make build, or set STOPGATE_BINARY")
    return path


class Machine:
    """Directories of one test, and the processes of its copy of the program."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.binary = home / "stopgate"
        for name in ("project", "run", "state", "config", "cache"):
            (home / name).mkdir(mode=0o700)
        shutil.copy2(built(), self.binary)

    def environment(self) -> dict[str, str]:
        """Return the variables that keep state, sockets and settings below the home."""
        return {
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
        }

    def kill(self) -> None:
        """End every process of the copy and remove it: no gate is left, and none can start."""
        with suppress(FileNotFoundError):
            self.binary.rename(self.binary.with_name("stopgate.gone"))
            self.binary.with_name("stopgate.gone").chmod(0o600)
        deadline = time.monotonic() + 10
        while processes := self._processes():
            for pid in processes:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise TimeoutError(f"processes of {self.binary} do not end: {processes}")
            time.sleep(0.01)

    def _processes(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                if os.readlink(entry / "exe").startswith(str(self.home)):
                    found.append(int(entry.name))
        return found


@contextmanager
def machine() -> Iterator[Machine]:
    """Make a machine; at its end nothing of it is left. The path is short: sockets have at most 107 bytes."""
    home = Path(tempfile.mkdtemp(prefix="sg-", dir="/tmp"))
    made = Machine(home)
    try:
        yield made
    finally:
        made.kill()
        shutil.rmtree(home, ignore_errors=True)
