"""Errors of the client. Each of them means: the call must not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .outcome import Decision, Delivery


class StopgateError(Exception):
    """The base of all errors of this package."""


class GateUnavailable(StopgateError):
    """No gate answers: it cannot be started or reached, or its connection ended."""


class GateTimeout(StopgateError):
    """The gate did not answer before the deadline."""


class BadAnswer(StopgateError):
    """The answer is not an answer of a gate, contradicts itself, or is about another call."""


class BadArguments(StopgateError):
    """The arguments, or the result, cannot be represented exactly as JSON, or by the function's parameters."""


class ProgramMissing(StopgateError):
    """The program stopgate was not found."""


class Problem(StopgateError):
    """An error response of the gate (RFC 9457). Its code is stable."""

    def __init__(self, code: str, status: int, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.status = status
        self.detail = detail

    def __reduce__(self) -> tuple[type[Problem], tuple[str, int, str]]:
        return Problem, (self.code, self.status, self.detail)


class Denied(StopgateError):
    """The gate did not allow the call, or withheld its result if there is a delivery. The text is for the model."""

    def __init__(self, outcome: Decision, delivery: Optional[Delivery] = None) -> None:
        super().__init__(outcome.model_text if delivery is None else delivery.model_text)
        self.outcome = outcome
        self.delivery = delivery
