"""Anthropic Messages: content blocks, some of which are calls."""

from __future__ import annotations

from typing import Any

from .. import jsontext
from ..errors import BadAnswer
from .signal import Cut, End, Signal, Start, Text, contradiction, get, key_of, text

_REMOTE = ("server_tool_use", "mcp_tool_use")
"""Blocks of tools that run at the provider."""


class AnthropicReader:
    """A call is complete when its block stops."""

    def __init__(self) -> None:
        self._open: dict[str, bool] = {}  # whether arguments have arrived

    def read(self, event: Any) -> list[Signal]:
        kind = text(get(event, "type"), "type")
        if kind == "content_block_start":
            return self._start(key_of(get(event, "index")), get(event, "content_block"))
        if kind == "content_block_delta":
            return self._delta(key_of(get(event, "index")), get(event, "delta"))
        if kind == "content_block_stop":
            return self._stop(key_of(get(event, "index")))
        return [Cut()] if kind == "error" else []

    def _start(self, key: str, block: Any) -> list[Signal]:
        kind = text(get(block, "type"), "type")
        if kind != "tool_use":
            if kind.endswith("tool_use") and kind not in _REMOTE:
                raise BadAnswer(f"a block of the type {kind} cannot be judged: no call of this stream may run")
            return []
        if key in self._open:
            raise contradiction("a call")
        name = text(get(block, "name"), "tool name")
        if not name:
            raise BadAnswer("the stream has a call without a name: no call of it may run")
        given = get(block, "input")
        self._open[key] = bool(given)
        start = Start(key, text(get(block, "id"), "call id"), name)
        return [start, Text(key, jsontext.encode(given))] if given else [start]

    def _delta(self, key: str, delta: Any) -> list[Signal]:
        if key not in self._open or get(delta, "type") != "input_json_delta":
            return []
        part = text(get(delta, "partial_json"), "argument")
        if not part:
            return []
        self._open[key] = True
        return [Text(key, part)]

    def _stop(self, key: str) -> list[Signal]:
        fed = self._open.pop(key, None)
        if fed is None:
            return []
        return [End(key)] if fed else [Text(key, "{}"), End(key)]  # a call without arguments has no deltas
