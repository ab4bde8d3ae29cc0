"""Judges the calls of one stream while they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, Literal, Optional, TypeVar

from .._call import OpenCall
from .._models import Answer
from ..errors import BadAnswer
from ..outcome import Decision
from .anthropic import AnthropicReader
from .chat import ChatReader
from .responses import ResponsesReader
from .signal import Cut, End, Reader, Start, Text, get

O = TypeVar("O", bound=Decision)

AfterDenial = Literal["close", "continue"]
Open = Callable[[str, Optional[str], Optional[Mapping[str, Any]]], Awaitable[OpenCall]]
"""Opens a call of a tool, with the id and the definition that are known."""


class StreamedCall(Generic[O]):
    """A call of a stream. Run it only if its outcome allows it, with the arguments of the outcome."""

    def __init__(self, call_id: str, name: str) -> None:
        self.call_id, self.name = call_id, name
        self.outcome: Optional[O] = None
        """The decision. None if the answer of the model ended before the call was complete."""

    @property
    def allowed(self) -> bool:
        return self.outcome is not None and self.outcome.allowed

    @property
    def model_text(self) -> str:
        """The text that the model should read of a call that does not run."""
        if self.outcome is not None:
            return self.outcome.model_text
        return "[stopgate] This tool call was not run: the answer of the model ended before the call was complete (stream_truncated)."


class _One(Generic[O]):
    def __init__(self, call: StreamedCall[O], opened: OpenCall) -> None:
        self.call, self.opened = call, opened
        self.closing: Optional[asyncio.Task[Answer]] = None


class Judge(Generic[O]):
    """The calls of a stream, in the event loop of the client."""

    def __init__(
        self, open: Open, made: Callable[[Answer], O], definitions: Mapping[str, Mapping[str, Any]], after: AfterDenial
    ) -> None:
        if after not in ("close", "continue"):
            raise ValueError(f'after_denial is "close" or "continue", not {after!r}')
        self._open_call, self._made, self._definitions, self._after = open, made, definitions, after
        self._reader: Optional[Reader] = None
        self._open: dict[str, _One[O]] = {}
        self.calls: list[StreamedCall[O]] = []
        self.closed = False
        """Whether nothing that can still come may run: a call was refused, and no other one is open."""

    async def take(self, event: Any) -> None:
        """Reads one event."""
        if self._reader is None:
            self._reader = _reader_of(event)
        for signal in self._reader.read(event) if self._reader is not None else ():
            if isinstance(signal, Start):
                await self._start(signal)
            elif isinstance(signal, Text):
                await self._feed(signal)
            elif isinstance(signal, End):
                self._end(signal.key)
            elif isinstance(signal, Cut):
                await self._cut()

    async def _start(self, start: Start) -> None:
        call: StreamedCall[O] = StreamedCall(start.call_id, start.name)
        opened = await self._open_call(start.name, start.call_id or None, self._definitions.get(start.name))
        self._open[start.key] = _One(call, opened)
        self.calls.append(call)

    async def _feed(self, part: Text) -> None:
        one = self._open.get(part.key)
        if one is None or one.closing is not None:
            raise BadAnswer("the stream has arguments without a call: no call of it may run")
        await one.opened.feed(part.text)
        if one.opened.refused and self._after == "close":
            others = (o for o in self._open.values() if o is not one and o.closing is None and not o.opened.refused)
            self.closed = self.closed or next(others, None) is None

    def _end(self, key: str) -> None:
        one = self._open.get(key)
        if one is not None and one.closing is None:
            one.closing = asyncio.get_running_loop().create_task(one.opened.close())

    async def _cut(self) -> None:
        for one in self._open.values():
            if one.closing is None:
                await one.opened.cancel()

    async def finish(self) -> None:
        """Waits for all decisions. Calls that have not ended are refused, or cancelled."""
        for key, one in self._open.items():
            if one.closing is None and one.opened.refused:
                self._end(key)
            elif one.closing is None:
                await one.opened.cancel()
        try:
            for one in self._open.values():
                if one.closing is not None:
                    one.call.outcome = self._made(await one.closing)
        except BaseException:
            await self.abandon()
            raise

    async def abandon(self) -> None:
        """Ends all calls; none of them may run."""
        for one in self._open.values():
            one.call.outcome = None
            if one.closing is not None:
                one.closing.cancel()
                await asyncio.wait({one.closing})
            await one.opened.cancel()


def _reader_of(event: Any) -> Optional[Reader]:
    """Returns the reader of the API whose event this is; None for an event that all of them have."""
    kind = get(event, "type")
    kind = kind if isinstance(kind, str) else ""
    if get(event, "object") == "chat.completion.chunk" or isinstance(get(event, "choices"), list):
        return ChatReader()
    if kind.startswith("response."):
        return ResponsesReader()
    if kind.startswith(("message_", "content_block_")):
        return AnthropicReader()
    if kind in ("ping", "error"):
        return None
    raise BadAnswer("the stream is not one of OpenAI Chat Completions, OpenAI Responses or Anthropic Messages")
