"""A scripted model: the turns that it plays, and a log of everything that it was sent.

A driver connects one Script with the model interface of its host: every request of the host goes to
`request` and `read`, every response comes from `next`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

DONE = "done"


@dataclass(frozen=True)
class Call:
    """One tool call that the model makes."""

    id: str
    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """The result of a call as the model was sent it.

    `failed` is the host's own mark of an error, None where the host has no such mark.
    """

    text: str
    failed: bool | None = None


@dataclass
class Script:
    """Turns of calls; after the last one the model answers DONE, as often as it is asked."""

    turns: Sequence[Sequence[Call]]
    played: int = 0
    readings: dict[str, Reading] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def next(self) -> Sequence[Call]:
        """Return the calls of the next turn, none for the final text DONE."""
        self.played += 1
        return self.turns[self.played - 1] if self.played <= len(self.turns) else ()

    def request(self, text: str) -> None:
        """Log one request of the host as text, complete."""
        self.requests.append(text)

    def read(self, call_id: str, text: str, failed: bool | None = None) -> None:
        """Log the result of a call that a request has. Later requests repeat it, and may not change it."""
        reading = Reading(text, failed)
        assert self.readings.setdefault(call_id, reading) == reading, f"the result of {call_id} changed"

    def text_of(self, call_id: str) -> str:
        """Return the result of a call, or fail: the model was never sent one."""
        assert call_id in self.readings, f"no result of {call_id} reached the model, only of {[*self.readings]}"
        return self.readings[call_id].text
