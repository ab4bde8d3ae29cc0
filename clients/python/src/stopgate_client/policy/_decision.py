"""Decisions of policies. Only the functions of this module make valid ones."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

_CODE = re.compile(r"[a-z0-9_]{1,64}\Z")
_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


class Invalid(Exception):
    """A policy returned something that is no decision: the call is denied invalid_policy_result."""


@dataclass(frozen=True)
class Decision:
    """The answer of a gate or a session policy. ``reason`` is a code, ``public_reason`` a sentence
    that models and people read."""

    decision: Literal["allow", "ask", "deny"]
    reason: str
    public_reason: str | None = None
    deny_mode: Literal["throw", "tool_result"] | None = None
    detail: str | None = None
    missing: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def encode(self, kind: Literal["gate", "session"]) -> dict[str, Any]:
        """Return the members of an answer. Raise Invalid for a decision that has no valid form."""
        if self.decision not in _STRICTNESS or kind == "gate" and self.decision == "ask":
            raise Invalid(f"a {kind} cannot answer {self.decision!r}")
        if not isinstance(self.reason, str) or not _CODE.match(self.reason):
            raise Invalid(f"reason {self.reason!r}: want a code of a-z, 0-9 and _")
        out: dict[str, Any] = {"decision": self.decision, "reason": self.reason}
        if self.public_reason:
            out["public_reason"] = self.public_reason
        if self.metadata:
            out["metadata"] = {str(k): str(v) for k, v in self.metadata.items()}
        if kind == "gate" and self.deny_mode:
            out["deny_mode"] = self.deny_mode
        if kind == "session" and self.detail:
            out["detail"] = self.detail
        if kind == "session" and self.missing:
            out["missing"] = sorted(self.missing)
        return out


@dataclass(frozen=True)
class Opinion:
    """The answer of a judge: how likely the call is harmful, and what follows. It only tightens."""

    probability: float
    decision: Literal["allow", "ask", "deny"] | None = None
    explanation: str | None = None
    public_reason: str | None = None

    def encode(self, threshold: float) -> dict[str, Any]:
        """Return the members of an answer. Raise Invalid for a probability that is none."""
        p = self.probability
        if isinstance(p, bool) or not isinstance(p, (int, float)) or not math.isfinite(p) or not 0 <= p <= 1:
            raise Invalid(f"probability {p!r}: want a number from 0 to 1")
        decision = self.decision or ("deny" if p >= threshold else "allow")
        if decision not in _STRICTNESS:
            raise Invalid(f"a judge cannot answer {decision!r}")
        out: dict[str, Any] = {"decision": decision, "probability": p}
        if self.explanation:
            out["explanation"] = self.explanation
        if self.public_reason:
            out["public_reason"] = self.public_reason
        return out


def allow(reason: str = "allowed") -> Decision:
    """Permit the call: no objection."""
    return Decision("allow", reason)


def deny(
    reason: str, public_reason: str | None = None, *, deny_mode: Literal["throw", "tool_result"] | None = None,
    detail: str | None = None, missing: Sequence[str] = (), **metadata: object,
) -> Decision:
    """Refuse the call. ``detail`` and ``missing`` are for the people who are asked about it."""
    return Decision("deny", reason, public_reason, deny_mode, detail, tuple(missing), {k: str(v) for k, v in metadata.items()})


def ask(reason: str, public_reason: str | None = None, *, detail: str | None = None, missing: Sequence[str] = ()) -> Decision:
    """Object in a session policy so that a person may overrule it for this one call."""
    return Decision("ask", reason, public_reason, None, detail, tuple(missing))


def judged(
    probability: float, explanation: str | None = None, *, decision: Literal["allow", "ask", "deny"] | None = None,
    public_reason: str | None = None,
) -> Opinion:
    """Return a judge's opinion. Without ``decision`` the threshold of the judge decides."""
    return Opinion(probability, decision, explanation, public_reason)


def strictest(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the first of the strictest answers."""
    return max(answers, key=lambda a: _STRICTNESS[a["decision"]])
