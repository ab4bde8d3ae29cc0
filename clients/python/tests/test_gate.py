"""The client with the real gate: decisions, questions, sessions, results, and a gate that is killed."""

from __future__ import annotations

import asyncio
import os
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import gates_of, options_of

import stopgate_client
from stopgate_client import Denied, Edit, Gate, GateUnavailable, No, Problem, Question, StopgateError, Yes, aio

POLICY = """version = 1
[gate]
denial_limit = 0
[approvals]
hold = "5s"
[tools.write_file.parameters]
path = { type = "path", required = true }
content = { type = "string" }
[tools.write_file.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny", reason = "Secrets stay out of reach." },
  { arg = "/path", prefix = "src/", mode = "unattended" },
  { arg = "/path", prefix = "tmp/", mode = "skip", reason = "Temporary files are not written." },
  { mode = "ask", reason = "A person looks at other files." },
]
[tools.open.policy]
run = "unattended"
[tools.deploy.policy]
run = [ { mode = "deny", reason = "frozen", when = { session = "/frozen", const = true } }, { mode = "unattended" } ]
[tools.mail.parameters]
to = { type = "string", required = true }
[tools.mail.policy]
run = [ { arg = "/to", from = "user", mode = "unattended" }, { mode = "deny", reason = "Only to those that the person named." } ]
"""


def test_decisions(started: Callable[..., Gate]) -> None:
    gate = started(POLICY)
    outcome = gate.decide("write_file", '{ "path" : "src/\\u00e9" }')
    assert outcome.allowed and outcome.args == {"path": "src/é"} and outcome.mode == "unattended"
    assert outcome.ran("written", failed=False).data == "written"
    denied = gate.decide("write_file", {"path": "a/.env"})
    assert denied.status == "denied" and denied.public == "Secrets stay out of reach." and denied.rule is not None
    assert denied.model_text == "[stopgate] The tool call `write_file` was not run: Secrets stay out of reach (rule_matched)."
    assert gate.decide("write_file", {"path": "tmp/x"}).status == "skipped"
    assert not gate.decide("WRITE_FILE", {"path": "src/a"}).allowed, "a tool name in capitals is another tool"
    assert not gate.decide("write_file", '{"path":"src/a","path":"b/.env"}').allowed
    assert gate.decide("write_file", {"path": "other"}).code == "no_approver", "nobody is there to ask"


def test_an_approver_that_exits_ends_the_call_and_nothing_else(started: Callable[..., Gate]) -> None:
    gate = started(POLICY, on_ask=lambda question: sys.exit(1))
    with pytest.raises(RuntimeError, match="SystemExit"):
        gate.decide("write_file", {"path": "other"})
    assert gate.decide("open", {}).allowed


def test_large_arguments(started: Callable[..., Gate]) -> None:
    args = {"path": "src/a", "content": "é" * (2 << 20)}
    gate = started(POLICY)
    assert gate.decide("write_file", args).args == args
    assert gate.decide("open", {}).allowed


@pytest.mark.parametrize("reply, allowed, args", [
    (Yes(), True, {"path": "other"}), (No("Not today."), False, None), (Edit({"path": "src/b"}), True, {"path": "src/b"}),
    (Edit({"path": "x/.env"}), False, None), (Edit({"path": "another"}), True, {"path": "another"}),
])
def test_questions_in_the_program(started: Callable[..., Gate], reply: Any, allowed: bool, args: Any) -> None:
    asked: list[Question] = []

    def on_ask(question: Question) -> Any:
        asked.append(question)
        return reply

    gate = started(POLICY, on_ask=on_ask)
    outcome = gate.decide("write_file", {"path": "other"})
    (question,) = asked
    assert (question.tool, question.args, question.complete, question.mode) == ("write_file", {"path": "other"}, True, "ask")
    assert question.public == "A person looks at other files."
    assert outcome.allowed is allowed
    if allowed:
        assert outcome.args == args and outcome.approval is not None and outcome.approval.by == "program"
    if isinstance(reply, No):
        assert "Not today" in outcome.model_text


def test_a_question_is_asked_while_arguments_arrive(started: Callable[..., Gate]) -> None:
    asked: list[bool] = []
    early = threading.Event()

    def on_ask(question: Question) -> Any:
        asked.append(question.complete)
        early.set()
        return Yes()

    gate = started(POLICY, on_ask=on_ask)
    with gate.call("write_file") as call:
        call.feed('{"path":"other",')
        assert early.wait(5), "before the arguments are complete"
        call.feed('"content":"x"}')
        outcome = call.close()
    assert asked == [False, True], "a yes to a part counts only for the whole"
    assert outcome.allowed and outcome.args == {"path": "other", "content": "x"}


def test_a_no_ends_a_call_early(started: Callable[..., Gate]) -> None:
    gate = started(POLICY, on_ask=lambda question: No("No."))
    begin = time.monotonic()
    with gate.call("write_file") as call:
        call.feed('{"path":"other","content":"')
        while not call.refused and time.monotonic() < begin + 5:
            call.feed("x")
            time.sleep(0.01)
        assert call.refused and not call.close().allowed


def test_an_answer_that_nobody_gives(started: Callable[..., Gate]) -> None:
    gate = started(POLICY.replace('"5s"', '"1s"'), on_ask=lambda question: None)
    begin = time.monotonic()
    pending = gate.decide("write_file", {"path": "other"}, wait=0)
    assert pending.status == "pending" and not pending.allowed and "approval_pending" in pending.model_text
    assert time.monotonic() - begin < 4
    late = gate.decide("write_file", {"path": "another"})
    assert not late.allowed and late.status == "denied", "the gate ends the question"


def test_on_ask_that_raises(started: Callable[..., Gate]) -> None:
    def on_ask(question: Question) -> Any:
        raise ZeroDivisionError

    gate = started(POLICY, on_ask=on_ask)
    for path in ("one", "two", "three"):
        with pytest.raises(ZeroDivisionError):
            gate.decide("write_file", {"path": path})


def test_async_on_ask(program: str, state: pathlib.Path) -> None:
    async def on_ask(question: Question) -> Any:
        await asyncio.sleep(0.01)
        return Yes()

    async def main() -> None:
        async with await aio.local(**options_of(program, state, POLICY), on_ask=on_ask) as gate:
            found = await asyncio.gather(*[gate.decide("write_file", {"path": f"x{i}"}) for i in range(20)])
            assert [o.args["path"] for o in found] == [f"x{i}" for i in range(20)]

    asyncio.run(main())


def test_sessions(started: Callable[..., Gate]) -> None:
    gate = started(POLICY)
    with gate.session(data={"frozen": False}) as session:
        assert gate.decide("deploy", {}).allowed
        session.set_data({"frozen": True})
        assert gate.decide("deploy", {}).public == "frozen"
    with gate.session(user_text="Write to anna@example.com please") as session:
        assert gate.decide("mail", {"to": "anna@example.com"}).allowed
        assert not gate.decide("mail", {"to": "mallory@example.com"}).allowed
        session.user("and to bob@example.com")
        assert gate.decide("mail", {"to": "bob@example.com"}).allowed
    assert not gate.decide("mail", {"to": "anna@example.com"}).allowed, "another session has no such text"


def test_a_session_with_a_past_has_no_key(started: Callable[..., Gate]) -> None:
    first, second = started(POLICY), started(POLICY, on_ask=lambda question: Yes())
    assert first.session(id="named").state.key is not None
    stranger = second.session(id="named")
    assert stranger.state.key is None
    with pytest.raises(StopgateError):
        stranger.user("I am the person")
    assert not second.decide("write_file", {"path": "other"}, session=stranger).allowed, "its questions are not for this program"


def test_a_gated_function(started: Callable[..., Gate]) -> None:
    gate = started(POLICY)
    written: dict[str, str] = {}

    @gate.tool
    def write_file(path: str, content: str = "") -> str:
        """Writes a file."""
        written[path] = content
        return "written"

    assert write_file("src/a", "x") == "written"
    with pytest.raises(Denied, match="Secrets stay out of reach"):
        write_file(".env", content="y")
    assert written == {"src/a": "x"}


def test_a_killed_gate(started: Callable[..., Gate], state: pathlib.Path) -> None:
    gate = started(POLICY.replace("frozen", "frozen2"), timeout=5.0, on_ask=lambda question: time.sleep(60))
    others = set(gates_of(state))
    gate.decide("open", {})
    result: list[BaseException] = []

    def propose() -> None:
        try:
            gate.decide("write_file", {"path": "other"})
        except StopgateError as err:
            result.append(err)

    thread = threading.Thread(target=propose)
    thread.start()
    time.sleep(0.5)
    for pid in others:
        os.kill(pid, signal.SIGKILL)
    thread.join(10)
    # The connection ended, or a new gate does not know the call.
    assert isinstance(result[0], (GateUnavailable, Problem))
    for _ in range(5):
        try:
            assert gate.decide("open", {}).allowed, "a later request starts a gate again"
            break
        except GateUnavailable:
            time.sleep(0.2)
    else:
        pytest.fail("no gate was started again")


def test_a_program_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ".:relative")
    with pytest.raises(stopgate_client.ProgramMissing, match="stopgate-cli.*PATH.*binary="):
        stopgate_client.local()
    with pytest.raises(stopgate_client.ProgramMissing, match="is not a program"):
        stopgate_client.local(binary="/nothing")
