"""stopgate decides whether a tool call of an AI agent runs.

    import stopgate_client

    gate = stopgate_client.local()

    @gate.tool
    def write_file(path: str, content: str) -> str: ...

Every call of the function is judged by the policy first; the judged arguments are what it gets; its
result is reported, and the part that the policy delivers is returned. A call that is not allowed
raises Denied, whose text is for the model. Every error means that the call must not run.

stopgate_client.aio is the same for asyncio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional, Union

from . import aio
from ._connect import local_core, remote_core
from ._models import Access, Envelope, Rule, Verdict
from ._program import StrPath
from .aio import AsyncCall, AsyncGate, AsyncOutcome, AsyncSession
from .approvals import Edit, No, OnAsk, Question, Yes
from .call import Call
from .errors import (
    BadAnswer,
    BadArguments,
    Denied,
    GateTimeout,
    GateUnavailable,
    Problem,
    ProgramMissing,
    StopgateError,
)
from .gate import Gate, Outcome
from .outcome import Decision, Delivery
from .session import Session

__all__ = [
    "Access", "AsyncCall", "AsyncGate", "AsyncOutcome", "AsyncSession", "BadAnswer", "BadArguments", "Call", "Decision",
    "Delivery", "Denied", "Edit", "Envelope", "Gate", "GateTimeout", "GateUnavailable", "No", "OnAsk", "Outcome", "Problem",
    "ProgramMissing", "Question", "Rule", "Session", "StopgateError", "Verdict", "Yes", "aio", "connect", "local",
]


def local(
    policy: Union[None, StrPath, Sequence[StrPath]] = None,
    project: Optional[StrPath] = None,
    binary: Optional[StrPath] = None,
    timeout: float = 30.0,
    on_ask: Optional[OnAsk] = None,
    socket: Optional[StrPath] = None,
    start: bool = True,
) -> Gate:
    """Returns the gate of this user and project, and starts it if none runs.

    policy: the policy files; by default those of the user and the project. project: the directory of
    the project; by default the current one. binary: the program stopgate; by default the one of the
    package stopgate-cli, else of PATH. timeout: seconds in which the gate has to answer; people have
    as long as the policy gives them. on_ask: a function that answers questions about calls that need
    approval; without one they go to the approval queue. socket: the socket of a gate that runs
    already. start: whether to start a gate.

    Raises ProgramMissing, or GateUnavailable if no gate can be reached.
    """
    return Gate(local_core(policy, project, binary, timeout, on_ask, socket, start))


def connect(
    url: str,
    token: Optional[str] = None,
    approve_token: Optional[str] = None,
    timeout: float = 30.0,
    on_ask: Optional[OnAsk] = None,
) -> Gate:
    """Returns the gate at an address of `[api] listen`: http://HOST:PORT or https://HOST.

    token has the scope decide, and those of what else the program does. approve_token has the scope
    approve, and is needed for on_ask: a call is not approved with the token that proposed it.
    """
    return Gate(remote_core(url, token, approve_token, timeout, on_ask))
