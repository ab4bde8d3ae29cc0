"""OpenAI Responses: items of the output, some of which are calls. Copies of the arguments must be equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ..errors import BadAnswer
from .signal import Cut, End, Signal, Start, Text, contradiction, get, items, key_of, quoted, text

_REMOTE = {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"}
"""Items that are calls by their type and run at the provider."""


@dataclass
class _Item:
    call_id: str
    name: str
    custom: bool
    text: str = ""
    ended: bool = False


class ResponsesReader:
    """A call is complete when its item is done; the arguments there are those of the deltas."""

    def __init__(self) -> None:
        self._items: dict[str, _Item] = {}

    def read(self, event: Any) -> list[Signal]:
        kind = text(get(event, "type"), "type")
        if kind == "response.output_item.added":
            return self._begin(key_of(get(event, "output_index")), get(event, "item"))[0]
        if kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            return self._part(key_of(get(event, "output_index")), text(get(event, "delta"), "argument"))
        if kind == "response.function_call_arguments.done":
            return self._whole(key_of(get(event, "output_index")), text(get(event, "arguments"), "argument"))
        if kind == "response.custom_tool_call_input.done":
            return self._whole(key_of(get(event, "output_index")), text(get(event, "input"), "argument"))
        if kind == "response.output_item.done":
            return self._end(key_of(get(event, "output_index")), get(event, "item"))
        if kind == "response.completed":
            self._check(items(get(get(event, "response"), "output")))
        if kind in ("response.incomplete", "response.failed", "error"):
            return [Cut()]
        return []

    def _begin(self, key: str, item: Any) -> tuple[list[Signal], Optional[_Item]]:
        kind = text(get(item, "type"), "type")
        if kind not in ("function_call", "custom_tool_call"):
            if kind.endswith("_call") and kind not in _REMOTE:
                raise BadAnswer(f"an item of the type {kind} cannot be judged: no call of this stream may run")
            return [], None
        space, name = text(get(item, "namespace"), "namespace"), text(get(item, "name"), "tool name")
        if not name:
            raise BadAnswer("the stream has a call without a name: no call of it may run")
        this = _Item(text(get(item, "call_id"), "call id"), f"{space}.{name}" if space else name, kind == "custom_tool_call")
        known = self._items.get(key)
        if known is not None:
            if (known.call_id, known.name, known.custom) != (this.call_id, this.name, this.custom):
                raise contradiction("a call")
            return [], known
        self._items[key] = this
        found: list[Signal] = [Start(key, this.call_id, this.name)]
        if this.custom:
            found.append(Text(key, '{"input":"'))
        return found + self._part(key, _copy(this, item)), this

    def _part(self, key: str, part: str) -> list[Signal]:
        item = self._items.get(key)
        if item is None or item.ended:
            raise contradiction("a call")
        item.text += part
        return [Text(key, quoted(part) if item.custom else part)] if part else []

    def _whole(self, key: str, whole: str) -> list[Signal]:
        """Reads a copy of all arguments: the rest of them, if it begins with those that are known."""
        item = self._items.get(key)
        if item is None or not whole.startswith(item.text):
            raise contradiction("the arguments")
        return self._part(key, whole[len(item.text):])

    def _end(self, key: str, item: Any) -> list[Signal]:
        found, begun = self._begin(key, item)
        if begun is None:
            return []
        if begun.ended:
            raise contradiction("a call")
        if get(item, "status") == "incomplete":
            return [*found, Cut()]
        found += self._whole(key, _copy(begun, item))
        begun.ended = True
        if begun.custom:
            found.append(Text(key, '"}'))
        return [*found, End(key)]

    def _check(self, output: list[Any]) -> None:
        """Compares the whole output with the calls that were judged."""
        for index, item in enumerate(output):
            _, begun = self._begin(str(index), item)
            if begun is not None and (not begun.ended or begun.text != _copy(begun, item)):
                raise contradiction("a call")


def _copy(begun: _Item, item: Any) -> str:
    return text(get(item, "input" if begun.custom else "arguments"), "argument")
