"""What an event of a provider's stream means for the calls of the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Union

from ..errors import BadAnswer


@dataclass(frozen=True)
class Start:
    """A call begins."""

    key: str
    call_id: str
    name: str


@dataclass(frozen=True)
class Text:
    """A part of the arguments of a call."""

    key: str
    text: str


@dataclass(frozen=True)
class End:
    """The arguments of a call are complete."""

    key: str


@dataclass(frozen=True)
class Cut:
    """The answer ended before it was complete: calls that have not ended must not run."""


Signal = Union[Start, Text, End, Cut]


class Reader(Protocol):
    """Reads the events of one provider API. Raises BadAnswer if they contradict each other."""

    def read(self, event: Any) -> list[Signal]: ...


def get(value: Any, name: str) -> Any:
    """Returns a member of an event, which is an object of an SDK or a dict; None if there is none."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def items(value: Any) -> list[Any]:
    """Returns the elements of an array; none for anything else."""
    return list(value) if isinstance(value, (list, tuple)) else []


def text(value: Any, what: str) -> str:
    """Returns a string, "" for nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadAnswer(f"the stream has a {what} that is not text: no call of it may run")
    return value


def key_of(value: Any) -> str:
    """Returns what identifies a part of an answer: its position, or an id."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadAnswer("the stream has a call without a position: no call of it may run")
    return str(value)


def contradiction(what: str) -> BadAnswer:
    """Returns the error of a stream that contradicts itself."""
    return BadAnswer(f"the stream has two versions of {what}: no call of it may run")


def quoted(part: str) -> str:
    """Returns free text as the inside of a JSON string."""
    return json.dumps(part)[1:-1]
