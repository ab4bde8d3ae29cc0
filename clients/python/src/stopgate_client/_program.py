"""Finds the program stopgate, and the arguments of its relay."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Sequence
from typing import Optional, Union

from .errors import ProgramMissing

StrPath = Union[str, "os.PathLike[str]"]

_WAYS = (
    "stopgate was not found. There are three ways: install the package stopgate-cli, "
    "put the program stopgate in a directory of PATH, or name its file with binary="
)


def find(binary: Optional[StrPath] = None) -> str:
    """Returns the absolute path of the program: binary, else of the package stopgate-cli, else of PATH.

    Raises ProgramMissing. Relative directories of PATH are not searched: the current directory may
    belong to the agent.
    """
    if binary is not None:
        path = os.path.abspath(os.fspath(binary))
        if not _executable(path):
            raise ProgramMissing(f"binary={path!r} is not a program")
        return path
    try:
        path = str(importlib.import_module("stopgate_cli").program())
    except ImportError:
        path = ""
    if path and _executable(path):
        return path
    directories = [d for d in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(d)]
    if found := shutil.which("stopgate", path=os.pathsep.join(directories)):
        return found
    raise ProgramMissing(_WAYS)


def _executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def command(
    binary: Optional[StrPath],
    policy: Union[None, StrPath, Sequence[StrPath]],
    project: Optional[StrPath],
    socket: Optional[StrPath] = None,
    start: bool = True,
) -> list[str]:
    """Returns the command line of `stopgate connect`."""
    line = [find(binary), "connect"]
    for path in [policy] if isinstance(policy, (str, os.PathLike)) else policy or ():
        line += ["--policy", os.path.abspath(os.fspath(path))]
    if project is not None:
        line += ["--project", os.path.abspath(os.fspath(project))]
    if socket is not None:
        line += ["--socket", os.path.abspath(os.fspath(socket))]
    if not start:
        line.append("--start=false")
    return line
