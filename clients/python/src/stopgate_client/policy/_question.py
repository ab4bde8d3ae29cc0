"""The parts of a question: the call, and the result of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool call, or with ``to`` a handoff. ``args`` are the arguments that would run, None where
    they are not known any more; ``raw`` is their text as the model wrote it, for gates."""

    proposal: str
    tool: str
    args: Any
    raw: str | None = None
    to: str | None = None
    server: str | None = None
    agent: str | None = None
    session: str | None = None
    turn: str | None = None
    call_id: str | None = None
    principal: str | None = None
    surface: str | None = None
    data: Mapping[str, Any] | None = None
    """The data of the session, which session policies see."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return an argument by its name."""
        return self.args.get(name, default) if isinstance(self.args, dict) else default


@dataclass(frozen=True)
class Result:
    """The result of a call that did not fail. ``succeeded`` is False where only its end is known."""

    succeeded: bool
    observed: bool
    size: int
    content: str | None
    """The text of the result, None if it is longer than 256 KiB."""


_NAMES = frozenset(Call.__dataclass_fields__) - {"data"}


def call_of(question: Mapping[str, Any]) -> Call:
    """Return the call of a question. Members that this version does not know are left out."""
    return Call(**{k: v for k, v in question["call"].items() if k in _NAMES}, data=question.get("data"))


def result_of(question: Mapping[str, Any]) -> Result:
    """Return the result of a question."""
    r = question["result"]
    return Result(r["status"] == "succeeded", r["observed"], r["bytes"], r.get("content"))


def governs(tools: object, tool: str) -> bool:
    """Report whether names and globs select a tool. A single text is one pattern."""
    patterns = [tools] if isinstance(tools, str) else list(tools)  # type: ignore[call-overload]
    return any(fnmatchcase(tool, p) for p in patterns)
