"""Event policies: hooks for the parts of an exchange of the LLM gateway."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_HOOKS = (
    "request", "response", "stream_start", "content_delta", "content_complete", "tool_call_delta", "tool_call_complete",
    "finish_reason", "stream_complete",
)


class Rejected(Exception):
    """Raised by on_request: the request is refused, and the client reads the message."""

    def __init__(self, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.message, self.status = message, status


@dataclass(frozen=True)
class Block:
    """A text of the model; ``content`` is empty until it is complete."""

    choice: int
    index: int
    content: str = ""


@dataclass
class ToolCall:
    """A call of the model. A hook may change ``arguments`` before it sends the complete call."""

    choice: int
    index: int
    id: str
    name: str
    arguments: str
    refused: str | None = None
    """The code if the gate has refused the call already."""


@dataclass
class Exchange:
    """One request and its response. ``scratchpad`` lives as long as the exchange."""

    id: str
    scratchpad: dict[str, Any]
    session: str | None = None
    principal: str | None = None
    agent: str | None = None
    dialect: str | None = None
    model: str | None = None
    streamed: bool = False
    calls: Mapping[str, int] = field(default_factory=dict)
    """At the end of the exchange: the numbers of calls judged, blocked and rewritten."""
    _emitted: list[dict[str, Any]] = field(default_factory=list)

    def emit(self, type: str, summary: str, *, severity: str = "info", details: Mapping[str, Any] | None = None) -> None:
        """Report an event to the subscribers of the gate."""
        event: dict[str, Any] = {"type": type, "summary": summary, "severity": severity}
        if details:
            event["details"] = dict(details)
        self._emitted.append(event)


class Stream:
    """The output of the policy in a hook."""

    def __init__(self, finished: bool, forwards: bool) -> None:
        self._finished, self._forwards = finished, forwards
        self._output: list[dict[str, Any]] = []
        self._flags: dict[str, bool] = {}

    def send_text(self, text: str, finish: bool = False) -> None:
        """Send a text. With ``finish`` the output of the policy ends after it."""
        self._check()
        if text:
            self._output.append({"text": text})
        if finish:
            self.mark_output_finished()

    def send(self, call: ToolCall) -> None:
        """Forward the call that the hook is about, with its arguments as they are now."""
        self._check()
        if self._forwards:
            self._output.append({"call": True, "arguments": call.arguments})

    def mark_output_finished(self) -> None:
        """End the output of the policy. Its hooks still see the rest."""
        self._finished, self._flags["finish"] = True, True

    def is_output_finished(self) -> bool:
        """Report whether the output has ended."""
        return self._finished

    def drop_silently(self) -> None:
        """Drop the call without a notice to the client."""
        self._flags["silent"] = True

    def stop(self) -> None:
        """End the response after this hook."""
        self._flags["stop"] = True

    def keepalive(self) -> None:
        """Do nothing: the gateway keeps its connections alive."""

    def _check(self) -> None:
        if self._finished:
            raise RuntimeError("the output is finished")


class EventPolicy:
    """Override the hooks that the policy needs; parts without a hook pass unchanged. Hooks may be
    async. ``tools`` of the table selects the calls that they see."""

    def on_request(self, request: dict[str, Any], exchange: Exchange) -> Any:
        """Return the request to send instead, or None. Raise Rejected to refuse it."""

    def on_response(self, response: dict[str, Any], exchange: Exchange) -> Any:
        """Return another response, or None. Only for responses that are not streamed."""

    def on_stream_start(self, exchange: Exchange, stream: Stream) -> Any:
        """Called before the response."""

    def on_content_delta(self, delta: str, block: Block, exchange: Exchange, stream: Stream) -> Any:
        """Called for each chunk of text; what it sends replaces the chunk."""

    def on_content_complete(self, block: Block, exchange: Exchange, stream: Stream) -> Any:
        """Called at the end of a text; what it sends is appended."""

    def on_tool_call_delta(self, delta: str, call: ToolCall, exchange: Exchange, stream: Stream) -> Any:
        """Called for each chunk of arguments. Without on_tool_call_complete a call of which not
        every chunk was sent is dropped."""

    def on_tool_call_complete(self, call: ToolCall, exchange: Exchange, stream: Stream) -> Any:
        """Called for a complete call: send it, or text instead of it, or nothing to drop it."""

    def on_finish_reason(self, reason: str, exchange: Exchange, stream: Stream) -> Any:
        """Called with the reason why the model stopped."""

    def on_stream_complete(self, exchange: Exchange) -> Any:
        """Called once at the end, however the exchange ended."""


def hooks_of(policy: EventPolicy) -> list[str]:
    """Return the hooks that a policy overrides, as ``hooks`` of the table names them."""
    return [name for name in _HOOKS if getattr(type(policy), "on_" + name) is not getattr(EventPolicy, "on_" + name)]


async def _value(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def answer_event(policy: EventPolicy, q: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a policy to a question about a part of an exchange."""
    hook = str(q["ask"])
    if hook not in _HOOKS:
        raise ValueError(f"no hook {hook!r}")
    if hook not in hooks_of(policy):
        return {}
    about = {k: v for k, v in q["exchange"].items() if k in Exchange.__dataclass_fields__}
    x = Exchange(**about, scratchpad=q["scratch"], calls=q.get("calls", {}))
    s = Stream(bool(q.get("finished")), hook == "tool_call_complete" or hook == "tool_call_delta" and "tool_call_complete" not in hooks_of(policy))
    method = getattr(policy, "on_" + hook)
    out: dict[str, Any] = {}
    if hook in ("request", "response"):
        try:
            body = await _value(method(q[hook], x))
        except Rejected as rejected:
            return {"reject": {"status": rejected.status, "message": rejected.message}, **_kept(x)}
        if body is not None:
            out[hook] = body
    elif hook == "stream_complete":
        await _value(method(x))
    else:
        await _value(method(*_parts(hook, q), x, s))
        out = {"output": s._output, **s._flags}
    return {**out, **_kept(x)}


def _kept(x: Exchange) -> dict[str, Any]:
    return {"scratch": x.scratchpad, **({"events": x._emitted} if x._emitted else {})}


def _parts(hook: str, q: Mapping[str, Any]) -> tuple[Any, ...]:
    if hook == "content_delta":
        return q["delta"], Block(q["choice"], q["index"])
    if hook == "content_complete":
        return (Block(q["choice"], q["index"], q["text"]),)
    if hook == "finish_reason":
        return (q["finish_reason"],)
    if hook == "stream_start":
        return ()
    c = q["call"]
    call = ToolCall(c["choice"], c["index"], c["id"], c["tool"], c["arguments"], c.get("refused"))
    return (q["delta"], call) if hook == "tool_call_delta" else (call,)


__all__ = ["Block", "EventPolicy", "Exchange", "Rejected", "Stream", "ToolCall", "answer_event", "hooks_of"]
