"""Questions about calls that need approval, and the answers of the program's own user."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

from . import jsontext
from ._models import Approval, Rule


@dataclass(frozen=True)
class Yes:
    """Approves exactly the call that the question shows, once."""


@dataclass(frozen=True)
class No:
    """Denies the call. The model reads the reason."""

    reason: str = ""


@dataclass(frozen=True)
class Edit:
    """Approves other arguments. They are judged like any others, and may be denied."""

    args: Mapping[str, Any]


class Question:
    """A call that waits for an approval."""

    def __init__(self, approval: Approval) -> None:
        self.approval = approval

    @property
    def id(self) -> str:
        return self.approval.id

    @property
    def tool(self) -> str:
        return self.approval.tool

    @property
    def session(self) -> str:
        return self.approval.session or ""

    @property
    def args_text(self) -> str:
        """The arguments as JSON text; empty while they are incomplete."""
        return self.approval.args or ""

    @functools.cached_property
    def args(self) -> dict[str, Any]:
        """The arguments; empty while they are incomplete."""
        found = jsontext.decode(self.args_text) if self.args_text and self.complete else {}
        return found if isinstance(found, dict) else {}

    @property
    def complete(self) -> bool:
        """Whether the arguments have arrived. Until then only No counts; Yes and Edit are asked again."""
        return self.approval.complete

    @property
    def public(self) -> str:
        """Why the call needs approval."""
        return self.approval.public or ""

    @property
    def code(self) -> str:
        return self.approval.code

    @property
    def mode(self) -> str:
        """ask, or edit: the arguments have to be changed."""
        return self.approval.mode

    @property
    def rule(self) -> Optional[Rule]:
        return self.approval.rule

    def __repr__(self) -> str:
        return f"<Question {self.id} {self.tool!r} {self.args_text[:80]}>"


Reply = Union[Yes, No, Edit, None]
"""An answer. None leaves the question to the approval queue."""

OnAsk = Union[Callable[[Question], Reply], Callable[[Question], Awaitable[Reply]]]
"""A function that answers questions. A plain function runs on a thread."""


def body(reply: Union[Yes, No, Edit], question: Question) -> str:
    """Returns the request body of an answer, bound to exactly what the question showed."""
    found: dict[str, Any]
    if isinstance(reply, Yes):
        found = {"answer": "approve"}
    elif isinstance(reply, Edit):
        found = {"answer": "edit", "args": reply.args}
    else:
        found = {"answer": "deny"}
        if reply.reason:
            found["reason"] = reply.reason
    if question.approval.seen and not isinstance(reply, No):
        found["seen"] = question.approval.seen
    return jsontext.encode(found)
