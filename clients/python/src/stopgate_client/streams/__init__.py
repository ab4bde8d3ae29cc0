"""Streams of the OpenAI and Anthropic SDKs whose calls are judged while they arrive.

    stream = gate.stream(client.messages.create(stream=True, **request))
    for event in stream:
        ...
    for call in stream.calls:
        if call.allowed:
            run(call.name, call.outcome.args)

After the iteration `calls` has the decision about every call. Run the allowed ones with the arguments
of their outcomes, not with those that the events spell. An error means that none may run.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import Any, Generic, TypeVar

from ..errors import BadAnswer
from ..outcome import Decision
from .judge import AfterDenial, Judge, StreamedCall

__all__ = ["AfterDenial", "AsyncGatedStream", "GatedStream", "Judge", "StreamedCall"]

E = TypeVar("E")
O = TypeVar("O", bound=Decision)


class _Stream(Generic[E, O]):
    def __init__(self, events: Any, judge: Judge[O]) -> None:
        self._events, self._judge, self._begun = events, judge, False

    @property
    def calls(self) -> list[StreamedCall[O]]:
        """The calls in the order of their beginnings."""
        return self._judge.calls

    @property
    def closed(self) -> bool:
        """Whether the stream was closed because a call was refused."""
        return self._judge.closed

    def _begin(self) -> None:
        if self._begun:
            raise BadAnswer("the stream is read already")
        self._begun = True


class GatedStream(_Stream[E, O]):
    """Iterates the events of a stream and judges its calls."""

    def __init__(self, events: Iterable[E], judge: Judge[O], run: Callable[[Coroutine[Any, Any, None]], Any]) -> None:
        super().__init__(events, judge)
        self._run = run

    def __iter__(self) -> Iterator[E]:
        self._begin()
        ended = over = False
        try:
            for event in self._events:
                self._run(self._judge.take(event))
                yield event
                if self._judge.closed:
                    break
            else:
                ended = True
            self._run(self._judge.finish())
            over = True
        finally:
            if not ended and callable(close := getattr(self._events, "close", None)):
                close()
            if not over:
                self._run(self._judge.abandon())


class AsyncGatedStream(_Stream[E, O]):
    """Iterates the events of a stream and judges its calls, in asyncio."""

    def __init__(self, events: AsyncIterable[E], judge: Judge[O]) -> None:
        super().__init__(events, judge)

    async def __aiter__(self) -> AsyncIterator[E]:
        self._begin()
        ended = over = False
        try:
            async for event in self._events:
                await self._judge.take(event)
                yield event
                if self._judge.closed:
                    break
            else:
                ended = True
            await self._judge.finish()
            over = True
        finally:
            if not ended:
                await _close(self._events)
            if not over:
                await self._judge.abandon()


async def _close(events: Any) -> None:
    close = getattr(events, "close", None) or getattr(events, "aclose", None)
    if callable(close):
        found = close()
        if inspect.isawaitable(found):
            await found
