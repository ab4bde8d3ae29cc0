"""The transport over `stopgate connect`: one child process that checks the gate and relays frames."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any, Optional, Union

from .errors import BadAnswer, BadArguments, GateUnavailable, StopgateError
from ._transport import MAX_BODY, Exchange, Lines, Request, Response, expire, refusal, same_process

_PROTOCOL = 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Relay:
    """Requests through a relay. A relay that ended, or sent nonsense, is replaced with the next request."""

    remote = False

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._child: Optional[_Child] = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._pid = os.getpid()

    @property
    def gate(self) -> dict[str, Any]:
        """The gate as the relay describes it, empty before the start."""
        return self._child.gate if self._child is not None else {}

    async def start(self, timeout: float) -> None:
        await self._running(timeout)

    async def _running(self, timeout: float) -> _Child:
        child = self._child
        if child is not None and child.broken is None:
            return child
        async with self._starting:
            if self._closed:
                raise GateUnavailable("the gate object is closed")
            if self._child is not None and self._child.broken is None:
                return self._child
            child = _Child(self._command)
            try:
                await child.hello(timeout)
            except BaseException:
                await child.close()
                raise
            self._child = child
            return child

    async def request(self, request: Request, timeout: float) -> Response:
        same_process(self._pid)
        child = await self._running(timeout)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Response] = loop.create_future()
        number = child.send(request, _Whole(answer))
        timer = expire(answer, timeout)
        try:
            await child.drain()
            return await answer
        finally:
            timer.cancel()
            child.forget(number)

    async def open(self, request: Request) -> Exchange:
        same_process(self._pid)
        child = await self._running(30)
        lines = Lines()
        number = child.send(request, lines, more=True)
        return _Exchange(child, number, lines)

    async def close(self) -> None:
        self._closed = True
        if self._child is not None and os.getpid() == self._pid:
            await self._child.close()


class _Whole:
    """A response that is awaited as a whole. One that does not fit into a frame comes in parts."""

    def __init__(self, future: asyncio.Future[Response]) -> None:
        self.future = future
        self._head: Optional[Response] = None
        self._parts: list[str] = []
        self._size = 0

    def take(self, frame: dict[str, Any]) -> None:
        """Reads a frame of the response."""
        if isinstance(frame.get("error"), dict):
            return self.future.set_exception(GateUnavailable(_reason(frame["error"])))
        if self._head is None:
            self._head = _response(frame)
            if frame.get("open") is not True:
                return self.future.set_result(self._head)
        body = frame.get("body", "")
        if not isinstance(body, str):
            raise BadAnswer("the relay sent a frame without text")
        self._parts.append(body)
        self._size += len(body)
        if self._size > 4 * MAX_BODY:
            raise BadAnswer("the answer is too long")
        if frame.get("end") is True:
            self.future.set_result(Response(self._head.status, self._head.headers, "".join(self._parts)))


class _Child:
    """One process, and the requests that wait for its frames."""

    def __init__(self, command: list[str]) -> None:
        self.gate: dict[str, Any] = {}
        self.broken: Optional[StopgateError] = None
        self._pending: dict[int, Union[_Whole, Lines]] = {}
        self._last = 0
        try:
            # A session of its own: an interrupt from the terminal is for this program, not for the relay.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
            )
        except OSError as err:
            raise GateUnavailable(f"{command[0]} cannot be started: {err}") from None
        self._writer: Optional[asyncio.StreamWriter] = None
        self._task: Optional[asyncio.Task[None]] = None

    async def hello(self, timeout: float) -> None:
        """Connects the pipes and reads the first frame."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_BODY)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, self._process.stdin)
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)
        ready: asyncio.Future[None] = loop.create_future()
        timer = expire(ready, timeout)
        self._task = loop.create_task(self._read(reader, ready))
        try:
            await ready
        finally:
            timer.cancel()

    async def _read(self, reader: asyncio.StreamReader, ready: asyncio.Future[None]) -> None:
        error: StopgateError = GateUnavailable("the relay of the gate ended")
        try:
            self._greet(await _frame(reader))
            if not ready.done():
                ready.set_result(None)
            while True:
                self._dispatch(await _frame(reader))
        except EOFError:
            pass
        except StopgateError as err:
            error = err
        except (OSError, asyncio.CancelledError):
            pass
        self._fail(error)
        if not ready.done():
            ready.set_exception(error)

    def _greet(self, frame: dict[str, Any]) -> None:
        hello = frame.get("hello")
        if isinstance(frame.get("error"), dict):
            raise GateUnavailable(_reason(frame["error"]))
        if not isinstance(hello, dict) or hello.get("protocol") != _PROTOCOL:
            raise BadAnswer(f"the program is not a relay of a gate with protocol {_PROTOCOL}")
        if isinstance(hello.get("gate"), dict):
            self.gate = hello["gate"]

    def _dispatch(self, frame: dict[str, Any]) -> None:
        number = frame.get("id")
        if type(number) is not int or not 0 < number <= self._last:
            if isinstance(frame.get("error"), dict) and number is None:
                raise GateUnavailable(_reason(frame["error"]))
            raise BadAnswer("the relay sent a frame for a request that was not made")
        waiting = self._pending.get(number)
        if waiting is None:
            return  # it was cancelled meanwhile
        if isinstance(waiting, Lines):
            self._part(waiting, frame)
        elif not waiting.future.done():
            waiting.take(frame)

    @staticmethod
    def _part(lines: Lines, frame: dict[str, Any]) -> None:
        if isinstance(frame.get("error"), dict):
            return lines.end(GateUnavailable(_reason(frame["error"])))
        if "status" in frame:
            response = _response(frame)
            if response.status != 200:
                return lines.end(refusal(response))
            if not frame.get("open"):
                lines.feed(response.body)
                return lines.end()
        body = frame.get("body", "")
        if not isinstance(body, str):
            raise BadAnswer("the relay sent a frame without text")
        lines.feed(body)
        if frame.get("end"):
            lines.end()

    def send(self, request: Request, waiting: Union[_Whole, Lines], more: bool = False) -> int:
        """Sends the frame of a request and returns its number."""
        frame: dict[str, Any] = {"id": self._last + 1, "method": request.method, "path": request.path}
        if request.headers:
            frame["headers"] = request.headers
        if request.body is not None:
            frame["body"] = request.body
        if more:
            frame["open"] = True
        data = _bytes(frame)
        self._last += 1
        self._pending[self._last] = waiting
        self._write(data)
        return self._last

    def write(self, frame: dict[str, Any]) -> None:
        """Sends a frame of a request that was made."""
        self._write(_bytes(frame))

    def _write(self, data: bytes) -> None:
        if self._writer is None or self.broken is not None:
            raise self.broken or GateUnavailable("the relay of the gate ended")
        self._writer.write(data)

    async def drain(self) -> None:
        """Waits while the relay does not read."""
        if self._writer is not None and self._writer.transport.get_write_buffer_size() > 0:
            try:
                await self._writer.drain()
            except OSError:
                raise self.broken or GateUnavailable("the relay of the gate ended") from None

    def forget(self, number: int) -> None:
        """Ends a request; without an answer it is cancelled."""
        waiting = self._pending.pop(number, None)
        if waiting is None or self.broken is not None:
            return
        answered = waiting.ended if isinstance(waiting, Lines) else (
            waiting.future.done() and not waiting.future.cancelled() and waiting.future.exception() is None
        )
        if not answered:
            self.write({"id": number, "cancel": True})

    def _fail(self, error: StopgateError) -> None:
        """Ends every request and the process."""
        if self.broken is None:
            self.broken = error
        for waiting in self._pending.values():
            if isinstance(waiting, Lines):
                waiting.end(error)
            elif not waiting.future.done():
                waiting.future.set_exception(error)
        self._pending.clear()
        self._end()

    def _end(self) -> None:
        if self._writer is not None:
            self._writer.close()
        elif self._process.stdin is not None:
            self._process.stdin.close()
        if isinstance(self.broken, BadAnswer):
            self._process.kill()

    async def close(self) -> None:
        """Ends the process: it ends with its standard input, and is killed if it does not."""
        self._fail(GateUnavailable("the gate object is closed"))
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        for _ in range(100):
            if self._process.poll() is not None:
                return
            await asyncio.sleep(0.01)
        self._process.kill()
        self._process.wait()


class _Exchange:
    """A request whose body goes on, in frames."""

    def __init__(self, child: _Child, number: int, lines: Lines) -> None:
        self._child, self._number, self._lines = child, number, lines

    async def send(self, text: str) -> None:
        if not self._lines.ended:
            self._child.write({"id": self._number, "body": text})
            await self._child.drain()

    async def finish(self) -> None:
        if not self._lines.ended:
            self._child.write({"id": self._number, "body": "", "end": True})

    async def line(self) -> Optional[str]:
        return await self._lines.next()

    def cancel(self) -> None:
        self._child.forget(self._number)
        self._lines.end(GateUnavailable("the call was cancelled"))


def _bytes(frame: dict[str, Any]) -> bytes:
    data = _ENCODER.encode(frame).encode() + b"\n"
    if len(data) > MAX_BODY:
        raise BadArguments(f"the request has {len(data)} bytes; the relay takes {MAX_BODY}")
    return data


async def _frame(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Reads one frame. Raises EOFError at the end."""
    try:
        line = await reader.readline()
    except ValueError:
        raise BadAnswer("the relay sent a frame that is too long") from None
    if not line.endswith(b"\n"):
        raise EOFError
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict):
        raise BadAnswer("the relay sent a line that is not a frame")
    return frame


def _response(frame: dict[str, Any]) -> Response:
    status, headers, body = frame.get("status"), frame.get("headers", {}), frame.get("body", "")
    if type(status) is not int or not isinstance(headers, dict) or not isinstance(body, str):
        raise BadAnswer("the relay sent a frame that is not a response")
    return Response(status, {str(k): str(v) for k, v in headers.items()}, body)


def _reason(error: dict[str, Any]) -> str:
    return f"{error.get('code', 'gate_unreachable')}: {error.get('detail', '')}"
