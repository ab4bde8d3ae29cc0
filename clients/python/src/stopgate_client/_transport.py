"""The port between the client and the ways to reach a gate: a relay process, or HTTP.

A transport never repeats a request and returns nothing that it did not receive. Its errors are
GateUnavailable, GateTimeout and BadAnswer.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Optional, Protocol

from . import jsontext
from .errors import BadAnswer, BadArguments, GateTimeout, GateUnavailable, Problem, StopgateError

MAX_BODY = 16 << 20
"""The largest body or frame in bytes, in both directions."""


@dataclass(slots=True)
class Request:
    """One request of the decision API."""

    method: str
    path: str
    body: Optional[str] = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)  # with the key of a session


@dataclass(slots=True)
class Response:
    """A whole response. The names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: str


class Exchange(Protocol):
    """A request whose body goes on, and its response, line by line."""

    async def send(self, text: str) -> None:
        """Sends a part of the body. A part after the end of the response is dropped."""

    async def finish(self) -> None:
        """Ends the body."""

    async def line(self) -> Optional[str]:
        """Returns the next line of the response, None at its end. Raises Problem if the gate refused the request."""

    def cancel(self) -> None:
        """Ends the exchange. After its end it has no effect."""


class Transport(Protocol):
    """A way to reach one gate. It belongs to the event loop that started it."""

    @property
    def remote(self) -> bool:
        """Whether requests are authorized by tokens, not by the session keys of a local socket."""

    async def start(self, timeout: float) -> None:
        """Connects, where that is not done for each request."""

    async def request(self, request: Request, timeout: float) -> Response:
        """Sends a whole request and returns the whole response."""

    async def open(self, request: Request) -> Exchange:
        """Sends the beginning of a request whose body goes on."""

    async def close(self) -> None:
        """Ends all requests and the connection."""


class Lines:
    """The lines of a response that arrives in parts of any size: written by a transport, read by one task."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._rest: list[str] = []
        self._size = 0
        self._end: Optional[BaseException] = None
        self._ended = False
        self._wake: Optional[asyncio.Future[None]] = None

    @property
    def ended(self) -> bool:
        return self._ended

    def feed(self, text: str) -> None:
        """Adds text of the response."""
        if self._ended:
            return
        first, *more = text.split("\n")
        self._rest.append(first)
        self._size += len(text)
        if self._size > MAX_BODY:
            return self.end(BadAnswer("the answer is too long"))
        for part in more:
            if line := "".join(self._rest):
                self._lines.append(line)
            self._rest, self._size = [part], len(part)
        self._notify()

    def end(self, error: Optional[BaseException] = None) -> None:
        """Ends the response. A last line without a line feed was cut off."""
        if self._ended:
            return
        if error is None and any(self._rest):
            error = BadAnswer("the answer ends in the middle of a line")
        self._end, self._ended = error, True
        self._notify()

    def _notify(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def next(self) -> Optional[str]:
        """Returns the next line; None, or the error, at the end."""
        while not self._lines:
            if self._ended:
                if self._end is not None:
                    raise self._end
                return None
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake
        return self._lines.popleft()


def expire(future: asyncio.Future[Any], timeout: float) -> asyncio.TimerHandle:
    """Ends a future with GateTimeout after a time."""

    def end() -> None:
        if not future.done():
            future.set_exception(late(timeout))

    return asyncio.get_running_loop().call_later(timeout, end)


def late(timeout: float) -> GateTimeout:
    """Returns the error of a gate that did not answer in time."""
    return GateTimeout(f"the gate did not answer within {timeout:g} seconds")


def same_process(pid: int) -> None:
    """Raises GateUnavailable in a child of the process that made a transport: the two would read each other's answers."""
    if os.getpid() != pid:
        raise GateUnavailable("the gate object belongs to the process that made it: make one in the child process")


def parse(text: str) -> Any:
    """Returns the value of a JSON text from the gate, or raises BadAnswer."""
    try:
        return jsontext.decode(text)
    except BadArguments as err:
        raise BadAnswer(f"the answer is not an answer of a gate: {err}") from None


def refusal(response: Response) -> StopgateError:
    """Returns the error of a response that is not a success."""
    kind = response.headers.get("content-type", "")
    try:
        found = json.loads(response.body) if kind.startswith("application/problem+json") else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and isinstance(found.get("code"), str) and found["code"]:
        detail = found.get("detail")
        return Problem(found["code"], response.status, detail if isinstance(detail, str) else "")
    return BadAnswer(f"the answer is not an answer of a gate: HTTP status {response.status}")


def success(response: Response) -> Any:
    """Returns the JSON value of a response. Raises Problem for a refusal and BadAnswer for anything else."""
    if response.status not in (200, 201, 202, 204):
        raise refusal(response)
    if response.status == 204:
        return None
    if not response.headers.get("content-type", "").startswith("application/json"):
        raise BadAnswer("the answer is not an answer of a gate: it is not JSON")
    return parse(response.body)
