"""The steps that all adapters share: decide, run the arguments that the gate released, report the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from stopgate_client import AsyncGate, AsyncOutcome, Delivery, Gate, Outcome

T = TypeVar("T")
Failures = tuple[type[BaseException], ...]


@dataclass(frozen=True)
class Told:
    """The text that the model reads in place of the tool's result.

    `status` is denied or skipped, and nothing ran; or withheld or changed, and the call ran.
    """

    text: str
    status: str

    @property
    def ran(self) -> bool:
        """Whether the tool ran."""
        return self.status in ("withheld", "changed")


@dataclass(frozen=True)
class Report(Generic[T]):
    """How a host's result is reported: its content as JSON or text, and whether it marks a failure.

    `failed` returns None where the host does not mark failures.
    """

    data: Callable[[T], Any]
    failed: Callable[[T], bool | None] = lambda _: None


def run(gate: Gate, tool: str, args: Any, call: Callable[[Outcome], T], report: Report[T], *, passes: Failures = (), **facts: Any) -> T | Told:
    """Return the result of `call`, or the text for the model.

    `call` runs the tool with the arguments of the outcome, only if the call is allowed. Its exceptions are reported
    as failures and pass through, unless the result policy withholds them; those of `passes` are the host's own
    control flow and are no results. StopgateError: the gate failed; the tool did not run, or its result is lost.
    """
    outcome = gate.decide(tool, args, **facts)
    if not outcome.allowed:
        return Told(outcome.model_text, outcome.status)
    try:
        result = call(outcome)
    except passes:
        raise
    except Exception as error:
        told = _told(outcome.ran(_failure(error), failed=True))
        if told is None:
            raise
        return told
    return _told(outcome.ran(report.data(result), failed=report.failed(result))) or result


async def arun(
    gate: AsyncGate, tool: str, args: Any, call: Callable[[AsyncOutcome], Awaitable[T]], report: Report[T], *, passes: Failures = (), **facts: Any
) -> T | Told:
    """Do the same as run, with an AsyncGate."""
    outcome = await gate.decide(tool, args, **facts)
    if not outcome.allowed:
        return Told(outcome.model_text, outcome.status)
    try:
        result = await call(outcome)
    except passes:
        raise
    except Exception as error:
        told = _told(await outcome.ran(_failure(error), failed=True))
        if told is None:
            raise
        return told
    return _told(await outcome.ran(report.data(result), failed=report.failed(result))) or result


def _failure(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _told(delivery: Delivery) -> Told | None:
    if delivery.delivered and not delivery.changed:
        return None
    return Told(delivery.model_text, "changed" if delivery.delivered else "withheld")
