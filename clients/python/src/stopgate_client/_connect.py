"""Makes the clients of local and remote gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional, Union

from . import _program
from ._core import Core
from ._http import Http
from ._program import StrPath
from ._relay import Relay
from .approvals import OnAsk


def local_core(
    policy: Union[None, StrPath, Sequence[StrPath]],
    project: Optional[StrPath],
    binary: Optional[StrPath],
    timeout: float,
    on_ask: Optional[OnAsk],
    socket: Optional[StrPath],
    start: bool,
) -> Callable[[], Core]:
    """Returns a function that makes, in its event loop, the client of a local gate."""
    command = _program.command(binary, policy, project, socket, start)
    return lambda: Core(Relay(command), timeout, on_ask)


def remote_core(
    url: str, token: Optional[str], approve_token: Optional[str], timeout: float, on_ask: Optional[OnAsk]
) -> Callable[[], Core]:
    """Returns a function that makes, in its event loop, the client of a remote gate."""
    return lambda: Core(Http(url, token), timeout, on_ask, Http(url, approve_token) if approve_token else None)
