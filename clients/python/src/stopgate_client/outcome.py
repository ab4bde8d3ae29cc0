"""Decisions about calls, and the results that models receive."""

from __future__ import annotations

import functools
import re
from typing import Any, Optional

from . import jsontext
from ._models import Access, Answer, AnswerApproval, Envelope, Rule
from ._models import Delivery as DeliveryBody
from .errors import BadAnswer, BadArguments, Denied

_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}\Z")
_CONTROLS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ufffd]")


class Decision:
    """The decision of the gate about one call.

    Only `allowed` permits the call, and only with `args`. A decision has no truth value, so that
    `if outcome:` cannot be mistaken for `if outcome.allowed:`.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    @property
    def allowed(self) -> bool:
        """Whether the call may run, with exactly `args`."""
        return self.answer.status == "allowed"

    @property
    def status(self) -> str:
        """allowed, denied, skipped, or pending while people are asked."""
        return self.answer.status

    @property
    def id(self) -> str:
        """The id of the call in the records."""
        return self.answer.id

    @property
    def tool(self) -> str:
        return self.answer.tool

    @property
    def session(self) -> str:
        return self.answer.session or ""

    @property
    def mode(self) -> str:
        """unattended, ask, edit, skip or deny: the mode of the rule that decided."""
        return self.answer.mode

    @property
    def code(self) -> str:
        """The stable reason code."""
        return self.answer.code or ""

    @property
    def public(self) -> str:
        """The reason, for models and people."""
        return self.answer.public or ""

    @property
    def rule(self) -> Optional[Rule]:
        """The rule that decided, or None."""
        return self.answer.rule

    @property
    def envelope(self) -> Optional[Envelope]:
        """The normalized result for models. None while the call is pending."""
        return self.answer.envelope

    @property
    def access(self) -> Optional[Access]:
        """The files that the tool may touch, which the program enforces. None: the policy sets no limit."""
        return self.answer.access

    @property
    def approval(self) -> Optional[AnswerApproval]:
        """The question and who answered it, or None."""
        return self.answer.approval

    @property
    def enforced(self) -> bool:
        """False in observe mode: the call is allowed whatever the verdict is."""
        return self.answer.enforced

    @property
    def decided_at(self) -> int:
        """The number of argument bytes after which the verdict was certain."""
        return self.answer.decided_at

    @property
    def args_text(self) -> str:
        """The arguments that may run, byte for byte. Raises Denied if the call is not allowed."""
        if not self.allowed or self.answer.args_text is None:
            raise Denied(self)
        return self.answer.args_text

    @functools.cached_property
    def args(self) -> dict[str, Any]:
        """The arguments that may run. Raises Denied if the call is not allowed.

        Raises BadArguments if Python cannot hold them exactly; args_text is the text itself.
        """
        found = jsontext.decode(self.args_text)
        if not isinstance(found, dict):
            raise BadArguments("the arguments are not a JSON object")
        return found

    @property
    def model_text(self) -> str:
        """The text that the model reads instead of a result if the call is not allowed."""
        if self.allowed:
            return ""
        name = f"the tool call `{self.tool}`" if _NAME.match(self.tool) else "this tool call"
        public = self.public if self.status != "pending" else "a person has to approve it, and has not answered yet"
        code = self.code if self.status != "pending" else "approval_pending"
        return f"[stopgate] {name[0].upper()}{name[1:]} was not run: {_sentence(public or 'the policy does not allow it')} ({code})."

    def __bool__(self) -> bool:
        raise TypeError("an outcome has no truth value: a denial is an outcome, too; use outcome.allowed")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.tool!r} {self.status} {self.mode} {self.code}>"


class Delivery:
    """What the model may receive of a result."""

    def __init__(self, tool: str, body: DeliveryBody, sent: str) -> None:
        self.tool = tool
        self.body = body
        self.changed = body.data != sent
        """Whether the result policy replaced the text that was reported."""

    @property
    def delivered(self) -> bool:
        """Whether the model may receive `data`."""
        return self.body.delivered

    @property
    def data(self) -> str:
        """The text for the model: the result, or its replacement. Empty if it is withheld."""
        return self.body.data if self.delivered else ""

    @property
    def mode(self) -> str:
        return self.body.mode

    @property
    def code(self) -> str:
        return self.body.code or ""

    @property
    def envelope(self) -> Envelope:
        """The normalized result for models."""
        return self.body.envelope

    @property
    def model_text(self) -> str:
        """The text that the model reads: the result, or why it is withheld."""
        if self.delivered:
            return self.data
        public = self.envelope.publicReason or "the call ran; its result is withheld by policy"
        return f"[stopgate] The result of `{self.tool}` is withheld: {_sentence(public)} ({self.code or 'result_withheld'})."

    def __bool__(self) -> bool:
        raise TypeError("a delivery has no truth value: use delivery.delivered")


def check(answer: Answer, tool: str, status: int, size: Optional[int] = None, id: Optional[str] = None) -> Answer:
    """Returns the answer to a request about a tool, arguments of a size in bytes, and a call that has an id.

    Raises BadAnswer if it contradicts itself or the request.
    """
    wrong = ""
    if answer.tool != tool:
        wrong = f"it is about the tool {answer.tool!r}"
    elif id is not None and answer.id != id and answer.status in ("allowed", "pending") and not _edited(answer):
        wrong = f"it is about the call {answer.id!r}"
    elif size is not None and answer.bytes != size and answer.status in ("allowed", "pending"):
        wrong = f"it is about {answer.bytes} bytes of arguments, not {size}"
    elif (status == 202) != (answer.status == "pending"):
        wrong = f"the status {answer.status} does not come with HTTP {status}"
    elif answer.status == "allowed":
        if answer.args_text is None:
            wrong = "the call is allowed, and args_text is missing: the gate is older than this client"
        elif answer.enforced and answer.mode in ("deny", "skip"):
            wrong = f"the call is allowed with the mode {answer.mode}"
        elif answer.envelope is None or answer.envelope.status != "ok":
            wrong = "the call is allowed, and its envelope denies it"
    if wrong:
        raise BadAnswer(f"the answer is not an answer of a gate: {wrong}")
    return answer


def _sentence(text: str) -> str:
    return _CONTROLS.sub(" ", text).strip().removesuffix(".")


def _edited(answer: Answer) -> bool:
    """Whether a person replaced the call by an edited one, which has an id of its own."""
    return answer.approval is not None and answer.approval.edited is True
