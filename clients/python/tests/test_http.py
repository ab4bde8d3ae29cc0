"""The client with a real gate at an address: tokens, questions, texts, a gate that is killed, proxies, TLS."""

from __future__ import annotations

import asyncio
import datetime
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme
from remote import TOKENS, Pipe, Up, served
from test_gate import POLICY

import stopgate_client
from stopgate_client import Denied, Edit, Gate, GateUnavailable, No, Problem, Question, Yes, aio

AGENT, PLAIN, ANNA, BOTH = TOKENS["AGENT"], TOKENS["PLAIN"], TOKENS["ANNA"], TOKENS["BOTH"]


@pytest.fixture(scope="module")
def up(program: str) -> Iterator[Up]:
    found = Up(program, POLICY)
    yield found
    found.close()


@pytest.fixture()
def gate(up: Up) -> Iterator[Gate]:
    with stopgate_client.connect(up.url, AGENT) as found:
        yield found


def test_decisions(gate: Gate) -> None:
    outcome = gate.decide("write_file", '{ "path" : "src/\\u00e9" }')
    assert outcome.allowed and outcome.args == {"path": "src/é"}
    delivery = outcome.ran("written", failed=False)
    assert delivery.delivered and delivery.data == "written"
    denied = gate.decide("write_file", {"path": "a/.env"})
    assert denied.status == "denied" and denied.public == "Secrets stay out of reach."
    with pytest.raises(Denied):
        denied.args
    assert gate.decide("write_file", {"path": "other"}).code == "no_approver"
    write: Callable[..., str] = lambda path, content="": "wrote " + path
    assert gate.wrap(write, name="write_file")("src/a") == "wrote src/a"


def test_many_at_once(gate: Gate) -> None:
    found: list[str] = []

    def propose(i: int) -> None:
        found.append(gate.decide("write_file", {"path": f"src/{i}"}).args["path"] + f" {i}")

    threads = [threading.Thread(target=propose, args=(i,)) for i in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"src/{i} {i}" for i in range(40))


def test_a_stream_ends_early(gate: Gate) -> None:
    begin = time.monotonic()
    with gate.call("write_file") as call:
        call.feed('{"path":"a/.env","content":"')
        while not call.refused and time.monotonic() < begin + 5:
            call.feed("x" * 1000)
            time.sleep(0.01)
        assert call.refused, "before the end of the arguments"
        outcome = call.close()
    assert not outcome.allowed and outcome.code == "rule_matched"
    with gate.call("write_file") as call:
        for part in ('{"path":"sr', 'c/a","content":"é', '😀"}'):
            call.feed(part)
        assert call.close().args == {"path": "src/a", "content": "é😀"}
    with gate.call("write_file") as call:
        call.feed('{"path":"src/a"')
        assert not call.close().allowed, "incomplete arguments"


@pytest.mark.parametrize("reply, allowed, args", [
    (Yes(), True, {"path": "other"}), (No("Not today."), False, None), (Edit({"path": "src/b"}), True, {"path": "src/b"}),
    (Edit({"path": "x/.env"}), False, None), (None, False, None),
])
def test_questions_are_answered_with_the_token_of_the_approver(up: Up, reply: Any, allowed: bool, args: Any) -> None:
    asked: list[Question] = []

    def on_ask(question: Question) -> Any:
        asked.append(question)
        return reply

    with stopgate_client.connect(up.url, AGENT, approve_token=ANNA, on_ask=on_ask) as gate:
        outcome = gate.decide("write_file", {"path": "other"}, wait=0)
    (question,) = asked
    assert (question.tool, question.args, question.complete) == ("write_file", {"path": "other"}, True)
    assert outcome.allowed is allowed
    if allowed:
        assert outcome.args == args and outcome.approval is not None and outcome.approval.by == "anna"
    if reply is None:
        assert outcome.status == "pending"


def test_a_question_is_answered_while_arguments_arrive(up: Up) -> None:
    asked: list[bool] = []

    def on_ask(question: Question) -> Any:
        asked.append(question.complete)
        return Yes()

    with stopgate_client.connect(up.url, AGENT, approve_token=ANNA, on_ask=on_ask) as gate, gate.call("write_file") as call:
        call.feed('{"path":"other",')
        call.feed('"content":"x"}')
        outcome = call.close()
    assert outcome.allowed and outcome.args == {"path": "other", "content": "x"} and asked[-1] is True


def test_the_token_that_proposes_cannot_approve(up: Up) -> None:
    with pytest.raises(ValueError, match="approve_token"):
        stopgate_client.connect(up.url, BOTH, on_ask=lambda question: Yes())
    with stopgate_client.connect(up.url, BOTH, approve_token=BOTH, on_ask=lambda question: Yes()) as gate:
        assert not gate.decide("write_file", {"path": "other"}, wait=0).allowed


def test_sessions_need_their_scopes(up: Up, gate: Gate) -> None:
    with gate.session(user_text="Write to anna@example.com please") as session:
        assert gate.decide("mail", {"to": "anna@example.com"}).allowed
        assert not gate.decide("mail", {"to": "mallory@example.com"}).allowed
        session.set_data({"frozen": True})
        assert gate.decide("deploy", {}).public == "frozen"
    with stopgate_client.connect(up.url, PLAIN) as plain:
        assert plain.decide("open", {}).allowed
        with pytest.raises(Problem) as refused, plain.session() as session:
            session.user("I am the person")
        assert (refused.value.status, refused.value.code) == (403, "scope_missing")


@pytest.mark.parametrize("token", [None, "wrong-0123456789abcdef", ANNA])
def test_a_wrong_token_decides_nothing(up: Up, token: Any) -> None:
    with stopgate_client.connect(up.url, token) as gate:
        with pytest.raises(Problem) as refused:
            gate.decide("open", {})
        assert refused.value.status in (401, 403)
        with pytest.raises(Problem), gate.call("open", session="named") as call:
            call.feed("{}")
            call.close()
    with stopgate_client.connect(up.url, AGENT, approve_token="wrong", on_ask=lambda question: Yes()) as gate, pytest.raises(Problem):
        gate.decide("write_file", {"path": "other"})


def test_asyncio(up: Up) -> None:
    async def on_ask(question: Question) -> Any:
        return Yes() if question.args["path"] == "yes" else No()

    async def main() -> None:
        async with await aio.connect(up.url, AGENT, approve_token=ANNA, on_ask=on_ask) as gate:
            paths = ["src/a", "a/.env", "yes", "no"]
            found = await asyncio.gather(*[gate.decide("write_file", {"path": p}) for p in paths])
            assert [o.allowed for o in found] == [True, False, True, False]
            assert (await found[0].ran("written")).data == "written"
            async with gate.session(user_text="Write to anna@example.com"), gate.call("mail") as call:
                await call.feed('{"to":"anna@')
                await call.feed('example.com"}')
                assert (await call.close()).allowed

    asyncio.run(main())


def test_a_gate_that_is_killed(program: str) -> None:
    up = Up(program, POLICY)
    asked = threading.Event()
    errors: list[BaseException] = []

    def on_ask(question: Question) -> Any:
        asked.set()
        time.sleep(60)

    with stopgate_client.connect(up.url, AGENT, approve_token=ANNA, on_ask=on_ask, timeout=5) as gate:
        call = gate.call("write_file")
        call.feed('{"path":"src/a"')

        def propose() -> None:
            try:
                gate.decide("write_file", {"path": "other"})
            except GateUnavailable as err:
                errors.append(err)

        thread = threading.Thread(target=propose)
        thread.start()
        assert asked.wait(5)
        up.kill()
        thread.join(5)
        assert len(errors) == 1, "the call that waits for a person"
        with pytest.raises(GateUnavailable):
            call.feed("}")
            call.close()
        with pytest.raises(GateUnavailable):
            gate.decide("open", {})
        up.start()
        assert gate.decide("open", {}).allowed, "it is there again"
    up.close()


def test_proxies_of_the_environment_are_not_used(up: Up, monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv(name.upper(), proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        with stopgate_client.connect(up.url, AGENT) as gate:
            assert gate.decide("open", {}).allowed
        assert proxy.connections == 0


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[trustme.CA, str]:
    """A CA of the tests, and the file of its certificate."""
    ca, path = trustme.CA(), tmp_path_factory.mktemp("ca") / "ca.pem"
    ca.cert_pem.write_to_path(str(path))
    return ca, str(path)


def pipe(up: Up, ca: trustme.CA, name: str = "127.0.0.1", **options: Any) -> Pipe:
    """Returns TLS in front of the gate with a certificate for a name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(name, **options).configure_cert(context)
    return Pipe(context, up.url)


def test_tls(up: Up, authority: tuple[trustme.CA, str], monkeypatch: pytest.MonkeyPatch) -> None:
    ca, path = authority
    monkeypatch.setenv("SSL_CERT_FILE", path)
    secure = pipe(up, ca)
    with stopgate_client.connect(f"https://127.0.0.1:{secure.port}", AGENT, approve_token=ANNA, on_ask=lambda question: Yes()) as gate:
        assert gate.decide("write_file", {"path": "src/a"}).ran("written").data == "written"
        assert gate.decide("write_file", {"path": "other"}).allowed
        with gate.call("write_file") as call:
            call.feed('{"path":"src/a"}')
            assert call.close().allowed
    secure.close()


@pytest.mark.parametrize("case", ["unknown_ca", "other_name", "expired", "no_tls"])
def test_tls_that_is_not_trusted(up: Up, authority: tuple[trustme.CA, str], monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    ca, path = authority
    monkeypatch.setenv("SSL_CERT_FILE", path)
    past = datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc)
    server = {
        "unknown_ca": lambda: pipe(up, trustme.CA()), "other_name": lambda: pipe(up, ca, "gate.example.com"),
        "expired": lambda: pipe(up, ca, not_after=past), "no_tls": lambda: pipe(up, ca),
    }[case]()
    port = server.port if case != "no_tls" else int(up.url.rpartition(":")[2])
    with stopgate_client.connect(f"https://127.0.0.1:{port}", AGENT) as gate:
        with pytest.raises(GateUnavailable, match="not secure"):
            gate.decide("open", {})
        with pytest.raises(GateUnavailable), gate.call("open", session="named") as call:
            call.feed("{}")
            call.close()
    server.close()
