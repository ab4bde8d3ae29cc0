"""A call whose arguments are still being written."""

from __future__ import annotations

import asyncio
from typing import Any, Optional, Union

from . import jsontext, outcome
from ._asking import Asking
from ._core import Core, Facts
from ._decode import decode
from ._models import Answer, StreamLine, Verdict
from ._text import Decoder
from ._transport import Exchange, Request, late, parse
from .errors import BadAnswer, GateUnavailable, StopgateError


class OpenCall:
    """Sends the arguments as they arrive, and keeps the newest verdict.

    The decision comes after the end of the arguments, or before it if the call is refused.
    """

    def __init__(self, core: Core, facts: Facts, wait: Optional[float]) -> None:
        self._core, self._facts, self._wait = core, facts, wait
        self._exchange: Optional[Exchange] = None
        self._asking = Asking(core, facts.session)
        self._text = Decoder()
        self._size = 0
        self._finished = False
        self._task: Optional[asyncio.Task[None]] = None
        self._error: Optional[StopgateError] = None
        self._answer: Optional[Answer] = None
        self.verdict: Optional[Verdict] = None
        """The newest verdict. An unattended one is provisional: only the decision allows the call."""

    @property
    def refused(self) -> bool:
        """Whether the call is decided before the end of its arguments: it is denied or skipped."""
        return self._answer is not None and not self._finished

    async def begin(self) -> None:
        """Submits the call without arguments."""
        headers = await self._core.headers(self._facts.session)
        first = jsontext.encode(self._facts.body()) + "\n"
        self._exchange = await self._within(self._core.transport.open(Request("POST", "/v1/calls/stream", first, headers)))
        self._task = asyncio.get_running_loop().create_task(self._read(self._exchange))

    async def _within(self, work: Any) -> Any:
        try:
            return await asyncio.wait_for(work, self._core.timeout)
        except asyncio.TimeoutError:
            await self.cancel()
            raise late(self._core.timeout) from None

    async def _read(self, exchange: Exchange) -> None:
        try:
            while (text := await exchange.line()) is not None:
                if self._answer is not None:
                    raise BadAnswer("the gate sent a line after its decision")
                self._take(decode(StreamLine, parse(text)))
            if self._answer is None:
                raise GateUnavailable("the gate ended the answer without a decision")
        except StopgateError as err:
            self._error, self._answer = err, None
            exchange.cancel()

    def _take(self, line: StreamLine) -> None:
        if line.verdict is not None:
            self.verdict = line.verdict
        if line.approval is not None:
            self._asking.begin(line.approval.id, complete=False)
        if line.call is not None:
            answer = outcome.check(line.call, self._facts.tool, 202 if line.call.status == "pending" else 200, self._size)
            if not self._finished and answer.status not in ("denied", "skipped"):
                raise BadAnswer("the gate decided before the end of the arguments, and not to refuse them")
            self._answer = answer
            self.verdict = decode_verdict(answer)

    async def feed(self, chunk: Union[str, bytes]) -> Optional[Verdict]:
        """Sends a part of the arguments and returns the newest verdict. After a refusal it sends nothing."""
        if self._finished:
            raise ValueError("the call is closed")
        if self._error is not None:
            raise self._error
        if self._answer is None:
            try:
                text = self._text.feed(chunk)
            except StopgateError:
                await self.cancel()
                raise
            if text and self._exchange is not None:
                self._size += len(text.encode())
                await self._within(self._exchange.send(text))
            await asyncio.sleep(0)  # for lines that have arrived
        return self.verdict

    async def close(self) -> Answer:
        """Ends the arguments and returns the decision. Arguments that are incomplete are denied."""
        try:
            if self._answer is None and self._error is None and not self._finished:
                self._text.finish()
                self._finished = True
                if self._exchange is not None:
                    await self._within(self._exchange.finish())
                await self._decided()
            self._finished = True
            if self._error is not None:
                raise self._error
            if self._answer is None:
                raise GateUnavailable("the call was cancelled")
            if self._answer.status == "pending":
                self._answer = await self._core.settle(self._answer, self._asking, self._wait)
            self._asking.check()
            return self._answer
        except BaseException:
            await self.cancel()
            raise

    async def _decided(self) -> None:
        if self._task is not None:
            done, _ = await asyncio.wait({self._task}, timeout=self._core.timeout)
            if not done:
                raise late(self._core.timeout)

    async def cancel(self) -> None:
        """Abandons the call. It must not run. After the decision it has no effect."""
        self._asking.stop()
        if self._exchange is not None and self._answer is None:
            self._exchange.cancel()
            self._error = self._error or GateUnavailable("the call was cancelled")
        if self._task is not None and not self._task.done() and self._answer is None:
            self._task.cancel()


def decode_verdict(answer: Answer) -> Verdict:
    """Returns the verdict in an answer."""
    names = Verdict.__dataclass_fields__
    return Verdict(**{name: getattr(answer, name) for name in names})
