"""A session, for programs without asyncio."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Token
from typing import TYPE_CHECKING, Any, Optional

from . import _session
from ._core import SessionState
from ._session import Reporter

if TYPE_CHECKING:
    from .gate import Gate


class Session:
    """A session of a gate. In a with statement it is the current session of the block.

    Reports need the session's key, which the program that began the session has, or a token.
    """

    def __init__(self, gate: Gate, reporter: Reporter) -> None:
        self._gate, self._reporter = gate, reporter
        self._tokens: list[Token[Any]] = []

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def state(self) -> SessionState:
        return self._reporter.state

    def user(self, text: str, id: Optional[str] = None) -> None:
        """Reports a message of the person. Nothing that a model or a tool wrote may be reported as one."""
        self._gate._run(self._reporter.text("user", text, id))

    def system(self, text: str) -> None:
        """Reports an instruction of the operator."""
        self._gate._run(self._reporter.text("system", text))

    def set_data(self, data: Mapping[str, Any]) -> None:
        """Replaces the data of the session, which conditions of session policies read."""
        self._gate._run(self._reporter.data(data))

    def approved(self, name: str) -> None:
        """Reports that a person gave the approval of a name, which session policies require."""
        self._gate._run(self._reporter.approved(name))

    def __enter__(self) -> Session:
        self._tokens.append(_session.current.set((*_session.current.get(), (self._gate._core, self.state))))
        return self

    def __exit__(self, *_: object) -> None:
        _session.current.reset(self._tokens.pop())
