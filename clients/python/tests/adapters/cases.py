"""The cases of clients/testdata/adapters.md: the script of each, and the conditions that must hold after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from script import Call, Script
from tools import Tools

MAIL = {"to": "anna@example.com", "body": "hello"}
REFUSED = "[stopgate] The tool call `{}` was not run"


@dataclass
class World:
    """A scene after its end, for the checks."""

    script: Script
    tools: Tools
    questions: list[Any] = field(default_factory=list)
    ran_before_question: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    error: Exception | None = None

    def refused(self, call_id: str, tool: str, reason: str) -> None:
        """Require that the model read a refusal of the call, with the reason."""
        text = self.script.text_of(call_id)
        assert REFUSED.format(tool) in text and reason in text, text

    def ended(self) -> None:
        """Require that the model was asked until its script was at its end, and the run did not fail."""
        if self.error is not None:
            raise self.error
        assert self.script.played == len(self.script.turns) + 1, f"the model was asked {self.script.played} times"


@dataclass(frozen=True)
class Scene:
    """One run of the host's agent: turns of the model, answers, the session, and the check.

    `answer` takes the module stopgate_client and makes the answer of on_ask, `delay` seconds after the question.
    `agents` are the names of the agents, the first of which begins; it can hand over to each of the others.
    `kills` is the tool whose run ends the gate for good.
    """

    turns: Sequence[Sequence[Call]]
    check: Callable[[World], None]
    answer: Callable[[Any], Any] | None = None
    delay: float = 0
    data: Mapping[str, Any] | None = None
    user: str | None = None
    agents: Sequence[str] = ("main",)
    kills: str | None = None


def _allow(w: World) -> None:
    w.ended()
    assert w.tools.ran == [("lookup", {"city": "Zürich", "days": 2})]
    assert "sunny in Zürich for 2 days" in w.script.text_of("c1")
    assert w.script.readings["c1"].failed is not True


def _deny(w: World) -> None:
    w.ended()
    assert [tool for tool, _ in w.tools.ran] == ["lookup"]
    w.refused("c1", "delete_file", "No file is deleted here")
    assert "sunny in Rome" in w.script.text_of("c2")


def _ask_yes(w: World) -> None:
    w.ended()
    assert w.ran_before_question == []
    assert len(w.questions) == 1
    question = w.questions[0]
    assert question.tool == "send_mail" and json.loads(question.args_text) == MAIL
    assert "A person reads every mail." in question.public
    assert w.tools.ran == [("send_mail", MAIL)]
    assert "sent to anna@example.com" in w.script.text_of("c1")


def _ask_no(w: World) -> None:
    w.ended()
    assert len(w.questions) == 1 and w.tools.ran == []
    w.refused("c1", "send_mail", "not today")


def _ask_late(w: World) -> None:
    w.ended()
    assert len(w.questions) == 1 and w.tools.ran == []
    w.refused("c1", "send_mail", "")


def _edit(w: World) -> None:
    w.ended()
    assert w.tools.ran == [("write_file", {"path": "drafts/motd", "content": "hi"})]
    assert "wrote drafts/motd" in w.script.text_of("c1")


def _skip(w: World) -> None:
    w.ended()
    assert w.tools.ran == []
    w.refused("c1", "notify", "Notifications are off")
    assert w.script.readings["c1"].failed is not True


def _withheld(w: World) -> None:
    w.ended()
    assert w.tools.ran == [("fetch", {"page": "public"}), ("fetch", {"page": "private"})]
    assert "content of public" in w.script.text_of("c1")
    assert "withheld" in w.script.text_of("c2")
    assert not any("content of private" in request for request in w.script.requests)


def _parallel(w: World) -> None:
    w.ended()
    ran = sorted((tool, args["city"]) for tool, args in w.tools.ran if tool == "lookup")
    assert ran == [("lookup", "Oslo"), ("lookup", "Rome")] and len(w.tools.ran) == 2
    assert "sunny in Rome" in w.script.text_of("p1")
    w.refused("p2", "delete_file", "No file is deleted here")
    assert "sunny in Oslo" in w.script.text_of("p3")


def _handoff_denied(w: World) -> None:
    w.ended()
    assert w.tools.ran == []
    text = w.script.text_of("h1")  # the name of the tool is the host's
    assert "[stopgate] The tool call `" in text and "` was not run" in text, text
    w.refused("h2", "refund", "Only billing refunds")


def _handoff(w: World) -> None:
    w.ended()
    assert w.tools.ran == [("refund", {"order": "7"})]
    taken = w.script.readings.get("h1")  # some hosts do not show the next agent the call that made it the next
    assert taken is None or "not run" not in taken.text
    assert "refunded 7" in w.script.text_of("h2")


def _session(w: World) -> None:
    w.ended()
    assert w.tools.ran == [("deploy", {"to": "prod"}), ("pay", {"to": "anna@example.com"})]
    w.refused("c3", "pay", "The person named no such payee")


def _no_session(w: World) -> None:
    w.ended()
    assert w.tools.ran == []
    w.refused("c1", "deploy", "Nothing is deployed outside of a release")


def _killed(w: World) -> None:
    assert w.tools.ran == [("lookup", {"city": "Rome", "days": 1})]
    assert not any("sunny in" in request for request in w.script.requests)
    for reading in w.script.readings.values():
        assert "sunny in" not in reading.text


_PUBLIC, _PRIVATE = Call("c1", "fetch", {"page": "public"}), Call("c2", "fetch", {"page": "private"})
_DEPLOY, _REFUND = Call("c1", "deploy", {"to": "prod"}), Call("h2", "refund", {"order": "7"})

CASES: Mapping[str, Sequence[Scene]] = {
    "allow": [Scene([[Call("c1", "lookup", {"city": "Zürich", "days": 2})]], _allow)],
    "deny": [Scene([[Call("c1", "delete_file", {"path": "notes.txt"})], [Call("c2", "lookup", {"city": "Rome", "days": 1})]], _deny)],
    "ask_yes": [Scene([[Call("c1", "send_mail", MAIL)]], _ask_yes, answer=lambda sg: sg.Yes())],
    "ask_no": [Scene([[Call("c1", "send_mail", MAIL)]], _ask_no, answer=lambda sg: sg.No("not today"))],
    "ask_late": [Scene([[Call("c1", "send_mail", MAIL)]], _ask_late, answer=lambda sg: sg.Yes(), delay=3.5)],
    "edit": [
        Scene(
            [[Call("c1", "write_file", {"path": "/etc/motd", "content": "hi"})]],
            _edit,
            answer=lambda sg: sg.Edit({"path": "drafts/motd", "content": "hi"}),
        )
    ],
    "skip": [Scene([[Call("c1", "notify", {"text": "hello"})]], _skip)],
    "withheld": [Scene([[_PUBLIC], [_PRIVATE]], _withheld)],
    "parallel": [
        Scene(
            [
                [
                    Call("p1", "lookup", {"city": "Rome", "days": 1}),
                    Call("p2", "delete_file", {"path": "notes.txt"}),
                    Call("p3", "lookup", {"city": "Oslo", "days": 1}),
                ]
            ],
            _parallel,
        )
    ],
    "handoff": [
        Scene([[Call("h1", "transfer_to_admins", {})], [_REFUND]], _handoff_denied, agents=("main", "billing", "admins")),
        Scene([[Call("h1", "transfer_to_billing", {})], [_REFUND]], _handoff, agents=("main", "billing", "admins")),
    ],
    "session": [
        Scene(
            [[_DEPLOY], [Call("c2", "pay", {"to": "anna@example.com"})], [Call("c3", "pay", {"to": "mallory@example.com"})]],
            _session,
            data={"mode": "release"},
            user="Pay anna@example.com please",
        ),
        Scene([[_DEPLOY]], _no_session),
    ],
    "killed": [
        Scene(
            [
                [Call("k1", "lookup", {"city": "Rome", "days": 1})],
                [Call("k2", "lookup", {"city": "Oslo", "days": 1}), Call("k3", "lookup", {"city": "Bern", "days": 1})],
            ],
            _killed,
            kills="lookup",
        )
    ],
}
