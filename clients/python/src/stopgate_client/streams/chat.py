"""OpenAI Chat Completions: chunks with deltas of tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import BadAnswer
from .signal import Cut, End, Signal, Start, Text, contradiction, get, items, key_of, quoted, text

_COMPLETE = ("tool_calls", "function_call", "stop")


@dataclass
class _Call:
    choice: str
    call_id: str
    name: str
    custom: bool
    ended: bool = False


class ChatReader:
    """Calls are complete when their choice has a finish reason that is not a cut."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    def read(self, event: Any) -> list[Signal]:
        found: list[Signal] = []
        for choice in items(get(event, "choices")):
            at = key_of(get(choice, "index") or 0)
            delta = get(choice, "delta")
            for call in items(get(delta, "tool_calls")):
                found += self._call(at, f"{at}/{key_of(get(call, 'index') or 0)}", call)
            if (function := get(delta, "function_call")) is not None:
                found += self._call(at, f"{at}/function", {"function": function})
            if reason := text(get(choice, "finish_reason"), "finish_reason"):
                found += self._finish(at, reason)
        return found

    def _call(self, choice: str, key: str, call: Any) -> list[Signal]:
        custom = get(call, "custom") is not None
        tool = get(call, "custom" if custom else "function")
        call_id, name = text(get(call, "id"), "call id"), text(get(tool, "name"), "tool name")
        part = text(get(tool, "input" if custom else "arguments"), "argument")
        found: list[Signal] = []
        begun = self._calls.get(key)
        if begun is None:
            if not name:
                raise BadAnswer("the stream has a call without a name: no call of it may run")
            begun = self._calls[key] = _Call(choice, call_id, name, custom)
            found.append(Start(key, call_id, name))
            if custom:
                found.append(Text(key, '{"input":"'))
        elif begun.ended or name not in ("", begun.name) or call_id not in ("", begun.call_id):
            raise contradiction("a call")
        if part:
            found.append(Text(key, quoted(part) if begun.custom else part))
        return found

    def _finish(self, choice: str, reason: str) -> list[Signal]:
        if reason not in _COMPLETE:
            return [Cut()]
        found: list[Signal] = []
        for key, call in self._calls.items():
            if call.choice == choice and not call.ended:
                call.ended = True
                if call.custom:
                    found.append(Text(key, '"}'))
                found.append(End(key))
        return found
