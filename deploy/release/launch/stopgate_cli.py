"""The programs stopgate and stopgate-hook."""

import os
import sys


def program(name: str = "stopgate") -> str:
    """Returns the path of a program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)


def main() -> None:
    """Runs stopgate in the place of this program."""
    _run("stopgate", 2 if sys.argv[1:2] == ["hook"] else 1)


def hook() -> None:
    """Runs stopgate-hook in the place of this program."""
    _run("stopgate-hook", 2)


def _run(name: str, status: int) -> None:
    """Ends with a status if the program cannot run: agents take any but 2 of a hook for a yes."""
    try:
        os.execv(program(name), [name, *sys.argv[1:]])
    except OSError as error:
        print(f"{name}: {error}; install stopgate-cli again, for this system", file=sys.stderr)
        sys.exit(status)
