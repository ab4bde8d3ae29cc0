"""Session policies: objects with a state that stopgate keeps with the session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ._decision import Decision
from ._question import Call, Result

State = dict[str, Any]


class SessionPolicy(Protocol):
    """A stateful constraint on the calls of a session.

    ``state`` is an object of JSON that begins empty. on_result changes it in place; what check
    changes is lost. A policy must keep nothing else: any service, and any gate, may be asked next.
    """

    @property
    def tools(self) -> Iterable[str]:
        """Names and globs of the tools that the policy governs and learns from."""

    def check(self, call: Call, state: State) -> Any:
        """Return a Decision, or a coroutine of one."""


def name_of(policy: SessionPolicy) -> str:
    """Return the name under which the state of a policy is kept."""
    return str(getattr(policy, "name", type(policy).__name__))


def learns(policy: SessionPolicy) -> Any:
    """Return on_result of a policy, None if it has none."""
    return getattr(policy, "on_result", None)


__all__ = ["Call", "Decision", "Result", "SessionPolicy", "State", "learns", "name_of"]
