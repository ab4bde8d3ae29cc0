"""A gate that dies, hangs or answers nonsense denies, within the deadline, with a typed error."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

import pytest

import stopgate_client
from stopgate_client._core import Facts
from stopgate_client._transport import Request
from stopgate_client import BadAnswer, BadArguments, Denied, Gate, GateTimeout, GateUnavailable, Problem, aio

FAULTS = [
    ("hang", GateTimeout), ("die", GateUnavailable), ("die_late", GateUnavailable), ("nonsense", BadAnswer), ("stranger", BadAnswer),
    ("gate_gone", GateUnavailable), ("page", BadAnswer), ("proxy", BadAnswer), ("half", BadAnswer), ("list", BadAnswer),
    ("other_tool", BadAnswer), ("no_text", BadAnswer), ("deny_mode", BadAnswer), ("deny_envelope", BadAnswer),
    ("maybe", BadAnswer), ("number", BadAnswer), ("pending", BadAnswer), ("problem", Problem),
    ("swapped", BadAnswer), ("parts_lost", GateUnavailable),
]


@pytest.mark.parametrize("tool, error", FAULTS)
def test_fault_is_a_typed_error_within_the_deadline(fake: Gate, tool: str, error: type[Exception]) -> None:
    begin = time.monotonic()
    with pytest.raises(error):
        fake.decide(tool, {})
    assert time.monotonic() - begin < 3
    assert fake.decide("fine", {"a": 1}).args == {"a": 1}, "the next call has a relay again"


@pytest.mark.parametrize("tool, error", FAULTS)
def test_no_fault_runs_a_tool(fake: Gate, tool: str, error: type[Exception]) -> None:
    ran: list[str] = []

    @fake.tool(name=tool, on_denied="return")
    def function(path: str) -> None:
        ran.append(path)

    with pytest.raises(error):
        function("x")
    assert ran == []


@pytest.mark.parametrize("tool", ["huge_number", "rounded", "twice"])
def test_arguments_that_python_cannot_hold_exactly(fake: Gate, tool: str) -> None:
    outcome = fake.decide(tool, {})
    assert outcome.allowed and "path" in outcome.args_text
    with pytest.raises(BadArguments):
        outcome.args


def test_a_death_ends_every_open_call(fake: Gate) -> None:
    async def main() -> None:
        async with await aio.local(binary=fake._core.transport._command[0], timeout=5) as gate:  # type: ignore[attr-defined]
            begin = time.monotonic()
            calls = [gate.decide("hang", {}) for _ in range(50)]
            found = await asyncio.gather(*calls, gate.decide("die_late", {}), return_exceptions=True)
            assert all(isinstance(f, GateUnavailable) for f in found)
            assert time.monotonic() - begin < 3

    asyncio.run(main())


@pytest.mark.parametrize("mode, error", [
    ("refuse", GateUnavailable), ("silent", GateTimeout), ("old", BadAnswer), ("babble", BadAnswer),
])
def test_a_relay_that_does_not_begin(fake_program: Callable[[str], str], mode: str, error: type[Exception]) -> None:
    begin = time.monotonic()
    with pytest.raises(error):
        # Only the silent one is waited for; the others are refused when they begin, however long that takes.
        stopgate_client.local(binary=fake_program(mode), timeout=0.7 if mode == "silent" else 10)
    assert time.monotonic() - begin < 3


STREAM_FAULTS = [
    ("hang", GateTimeout), ("cut", BadAnswer), ("nothing", GateUnavailable), ("two", BadAnswer), ("early_yes", BadAnswer),
    ("refused_request", Problem),
]


@pytest.mark.parametrize("tool, error", STREAM_FAULTS)
def test_fault_of_a_stream(fake: Gate, tool: str, error: type[Exception]) -> None:
    begin = time.monotonic()
    with pytest.raises(error):
        with fake.call(tool) as call:
            call.feed('{"a"')
            call.feed(":1}")
            call.close()
    assert time.monotonic() - begin < 3


def test_stream_left_without_close_is_cancelled(fake: Gate) -> None:
    with fake.call("fine") as call:
        call.feed('{"a":1}')
    with pytest.raises(GateUnavailable):
        call.close()


def test_early_verdict_and_early_end(fake: Gate) -> None:
    with fake.call("fine") as call:
        while not call.refused:
            call.feed("bad")
            time.sleep(0.01)
        verdict = call.feed("more")
        assert verdict is not None and verdict.mode == "deny" and call.verdict == verdict
        outcome = call.close()
    assert not outcome.allowed and outcome.model_text == "[stopgate] The tool call `fine` was not run: no (rule_matched)."
    with pytest.raises(Denied):
        outcome.args


def test_parts_that_split_characters(fake: Gate) -> None:
    text = '{"a":"é😀"}'
    with fake.call("fine") as call:
        for byte in text.encode():
            call.feed(bytes([byte]))
        assert call.close().args == {"a": "é😀"}
    with fake.call("fine") as call:
        for part in ('{"a":"', "\ud83d", "\ude00", '"}'):
            call.feed(part)
        assert call.close().args == {"a": "😀"}
    with fake.call("fine") as call, pytest.raises(BadArguments):
        call.feed("\ud83d")
        call.feed("x")
    with fake.call("fine") as call, pytest.raises(BadArguments):
        call.feed(b'{"a":"\xff"}')
    with fake.call("fine") as call, pytest.raises(BadArguments):
        call.feed("é".encode()[:1])
        call.close()


def test_cancellation_in_the_middle(fake: Gate) -> None:
    ran: list[str] = []

    async def main() -> None:
        async with await aio.local(binary=fake._core.transport._command[0], timeout=5) as gate:  # type: ignore[attr-defined]

            @gate.tool(name="hang")
            async def function(path: str) -> None:
                ran.append(path)

            task = asyncio.create_task(function("x"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert gate._core.transport._child._pending == {}  # type: ignore[attr-defined]
            assert (await gate.decide("fine", {})).allowed

    asyncio.run(main())
    assert ran == []


def test_arguments_that_are_too_long(fake: Gate) -> None:
    with pytest.raises(BadArguments, match="the relay takes"):
        fake.decide("fine", {"a": "x" * (17 << 20)})
    assert fake.decide("fine", {}).allowed


def test_a_response_in_parts(fake: Gate) -> None:
    """The relay sends responses of more than 2 MiB in parts; other calls go on meanwhile."""
    args = {"a": "é" * 200_000}
    assert fake.decide("parts", args).args == args
    assert fake.decide("later", {}).allowed, "a pending call whose answer has its own id"


def test_a_key_is_not_printed(fake: Gate) -> None:
    with fake.session() as session:
        state = session.state
        request = Request("POST", "/v1/calls", None, {"Stopgate-Session-Key": str(state.key)})
        for text in (repr(session), repr(state), repr(Facts("x", state)), repr(fake), repr(request)):
            assert state.key is not None and state.key not in text


def test_closed_gate(fake_program: Callable[[str], str]) -> None:
    gate = stopgate_client.local(binary=fake_program("well"))
    gate.close()
    gate.close()
    with pytest.raises(GateUnavailable):
        gate.decide("fine", {})


def test_child_process_has_no_gate(fake: Gate) -> None:
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            fake.decide("fine", {})
            os.write(write, b"decided")
        except GateUnavailable:
            os.write(write, b"unavailable")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"unavailable"
    assert fake.decide("fine", {}).allowed
