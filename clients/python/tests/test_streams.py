"""Streams of the real SDKs: calls are judged as they arrive, and a refused one closes the stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import scripted
import pytest
from scripted import Provider

from stopgate_client import BadAnswer, Gate, GateTimeout, GateUnavailable, aio

DIALECTS: dict[str, Callable[..., Any]] = {"chat": scripted.chat, "responses": scripted.responses, "anthropic": scripted.anthropic}
MESSAGES: Any = [{"role": "user", "content": "go"}]


@pytest.fixture()
def model() -> Iterator[Provider]:
    with scripted.serve() as found:
        yield found


def start(dialect: str, url: str, module: Any = "") -> Any:
    """Starts a stream of the SDK; with module "Async" of its asynchronous client."""
    if dialect == "anthropic":
        client = getattr(anthropic, f"{module}Anthropic")(api_key="k", base_url=url, max_retries=0)
        return client.messages.create(model="m", max_tokens=99, messages=MESSAGES, stream=True)
    client = getattr(openai, f"{module}OpenAI")(api_key="k", base_url=url, max_retries=0)
    if dialect == "responses":
        return client.responses.create(model="m", input="go", stream=True)
    return client.chat.completions.create(model="m", messages=MESSAGES, stream=True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_parallel_calls_are_judged(fake: Gate, model: Provider, dialect: str) -> None:
    model.events = DIALECTS[dialect](("fine", ['{"a"', ":1}"]), ("deny_it", ['{"b":"b', 'ad"}']), ("edited", ['{"path":"x"}']), ("empty", ["{}"]))
    stream = fake.stream(start(dialect, model.url), after_denial="continue")
    assert len(list(stream)) == len([e for e in model.events if e.get("type") != "ping"])
    assert [(c.call_id, c.name, c.allowed) for c in stream.calls] == [
        ("call_0", "fine", True), ("call_1", "deny_it", False), ("call_2", "edited", True), ("call_3", "empty", True),
    ]
    assert stream.calls[0].outcome is not None and stream.calls[0].outcome.args == {"a": 1}
    assert "was not run: no (rule_matched)" in stream.calls[1].model_text
    with pytest.raises(BadAnswer, match="read already"):
        list(stream)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_refused_call_closes_the_stream(fake: Gate, model: Provider, dialect: str) -> None:
    first = [("fine", ['{"a":1}'])] if dialect != "chat" else []  # calls of a chat are complete, and then decided, at its end
    whole = DIALECTS[dialect](*first, ("deny_it", ['{"b":"bad'] + ["x" * 100] * 3))
    at = max(i for i, e in enumerate(whole) if "x" * 100 in str(e) and "bad" not in str(e))
    model.events, model.tail = whole[: at + 1], [whole[at]]
    stream = fake.stream(start(dialect, model.url))
    for _ in stream:
        pass
    assert stream.closed and model.closed.wait(5)
    assert [c.allowed for c in stream.calls] == [True for _ in first] + [False]
    assert stream.calls[-1].outcome is not None and stream.calls[-1].outcome.code == "rule_matched"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_async_streams(fake: Gate, model: Provider, dialect: str) -> None:
    async def main() -> None:
        async with await aio.local(binary=fake._core.transport._command[0]) as gate:  # type: ignore[attr-defined]
            model.events = DIALECTS[dialect](("fine", ['{"a"', ":1}"]))
            stream = gate.stream(await start(dialect, model.url, "Async"))
            async for _ in stream:
                pass
            (call,) = stream.calls
            assert call.outcome is not None and call.outcome.args == {"a": 1}
            whole = DIALECTS[dialect](("deny_it", ['{"b":"bad'] + ["x" * 100] * 3))
            at = max(i for i, e in enumerate(whole) if "x" * 100 in str(e) and "bad" not in str(e))
            model.events, model.tail = whole[: at + 1], [whole[at]]
            stream = gate.stream(await start(dialect, model.url, "Async"))
            async for _ in stream:
                pass
            assert stream.closed and not stream.calls[0].allowed
            assert await asyncio.to_thread(model.closed.wait, 5)

    asyncio.run(main())


CUT = {
    "chat": [scripted.chat(("fine", ['{"a":1}']), reason="length"), scripted.chat(("fine", ['{"a":1}']), reason="")],
    "responses": [scripted.responses(("fine", ['{"a":1}']), end="")[:-1]],
    "anthropic": [scripted.anthropic(("fine", ['{"a":1}']), end=False)],
}


@pytest.mark.parametrize("events", [e for cuts in CUT.values() for e in cuts])
def test_a_cut_call_is_not_decided(fake: Gate, events: Any) -> None:
    stream = fake.stream(events)
    assert len(list(stream)) == len(events)
    (call,) = stream.calls
    assert call.outcome is None and not call.allowed and "stream_truncated" in call.model_text


def second_name() -> Any:
    events = scripted.chat(("fine", ['{"a":1}']))
    events[2]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] = "other"
    return events


@pytest.mark.parametrize("events", [
    scripted.responses(("fine", ['{"a":1}']), copy='{"a":2}'),
    second_name(),
    [{"type": "message_start"}, {"type": "content_block_start", "index": 0, "content_block": {"type": "new_tool_use", "name": "x"}}],
    [{"type": "message_start"}, {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": ""}}],
    [{"type": "response.output_item.added", "output_index": 0, "item": {"type": "shell_call"}}],
    [{"kind": "something"}],
], ids=["copy", "second_name", "block", "nameless", "item", "dialect"])
def test_a_stream_that_cannot_be_judged(fake: Gate, events: Any) -> None:
    stream = fake.stream(events)
    with pytest.raises(BadAnswer):
        list(stream)
    assert not any(call.allowed for call in stream.calls)


@pytest.mark.parametrize("tool, error", [("hang", GateTimeout), ("cut", BadAnswer), ("nothing", GateUnavailable)])
def test_a_gate_that_fails_in_a_stream(fake: Gate, tool: str, error: type[Exception]) -> None:
    stream = fake.stream(scripted.responses(("fine", ['{"a":1}']), (tool, ["{}"])))
    with pytest.raises(error):
        list(stream)
    assert not any(call.allowed for call in stream.calls), "an error means that none may run"


def test_a_consumer_that_leaves(fake: Gate) -> None:
    stream = fake.stream(scripted.responses(("fine", ['{"a":1}'])))
    for _ in stream:
        break
    assert not any(call.allowed for call in stream.calls)
