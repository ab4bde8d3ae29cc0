"""A server that is no gate, or a bad one: each fault is a typed error within the deadline, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Union

import pytest
from fake_relay import answer, denied
from remote import Server, allowed, response, served

import stopgate_client
from stopgate_client import BadAnswer, Gate, GateTimeout, GateUnavailable, Problem, aio

Reply = Union[bytes, Callable[[socket.socket, str], None]]
OK = json.dumps(answer("tool", "{}")).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture()
def server() -> Iterator[Server]:
    with served() as found:
        yield found


@pytest.fixture()
def gate(server: Server) -> Iterator[Gate]:
    with stopgate_client.connect(server.url, "token", timeout=1) as found:
        yield found


def answering(server: Server, reply: Reply) -> None:
    """Makes the server send some bytes and end the connection, or do what a function does."""
    if callable(reply):
        server.reply = reply
        return
    data = reply

    def once(connection: socket.socket, tool: str) -> None:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_RDWR)

    server.reply = once


def drip(data: bytes, pause: float) -> Callable[[socket.socket, str], None]:
    """Sends one byte after the other."""

    def reply(connection: socket.socket, tool: str) -> None:
        for i in range(len(data)):
            connection.sendall(data[i : i + 1])
            time.sleep(pause)

    return reply


def forever(data: bytes, part: bytes) -> Callable[[socket.socket, str], None]:
    """Sends a beginning, and a part as long as the client reads."""

    def reply(connection: socket.socket, tool: str) -> None:
        connection.sendall(data)
        while True:
            connection.sendall(part)

    return reply


PROBLEM = response(b'{"code":"not_here","detail":"x"}', "404 Not Found", "application/problem+json")
FAULTS: dict[str, tuple[Reply, type[Exception]]] = {
    "nothing": (b"", GateUnavailable),
    "no_http": (b"SSH-2.0-x\r\n\r\n", BadAnswer),
    "half_a_head": (HEAD, GateUnavailable),
    "half_a_body": (HEAD + b"Content-Length: 9999\r\n\r\n" + OK, GateUnavailable),
    "half_a_chunk": (CHUNKED + b"fff\r\n" + OK, GateUnavailable),
    "no_last_chunk": (CHUNKED + b"%x\r\n%b\r\n" % (len(OK), OK), GateUnavailable),
    "chunk_that_is_longer": (CHUNKED + b"2\r\n" + OK + b"\r\n0\r\n\r\n", BadAnswer),
    "chunk_without_a_length": (CHUNKED + b"zz\r\n" + OK, BadAnswer),
    "no_length": (HEAD + b"\r\n" + OK, BadAnswer),
    "two_lengths": (HEAD + b"Content-Length: 2\r\nContent-Length: %d\r\n\r\n" % len(OK) + OK, BadAnswer),
    "length_and_chunks": (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", BadAnswer),
    "other_coding": (HEAD + b"Transfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", BadAnswer),
    "odd_length": (HEAD + b"Content-Length: -5\r\n\r\n" + OK, BadAnswer),
    "odd_header": (HEAD + b"nonsense\r\nContent-Length: %d\r\n\r\n" % len(OK) + OK, BadAnswer),
    "long_body": (HEAD + b"Content-Length: 999999999\r\n\r\n", BadAnswer),
    "endless_body": (forever(CHUNKED, b"100000\r\n" + b" " * 0x100000 + b"\r\n"), BadAnswer),
    "endless_header": (forever(HEAD, b"x" * 65536), BadAnswer),
    "endless_headers": (forever(HEAD, b"x: y\r\n" * 50), BadAnswer),
    "endless_interims": (forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), BadAnswer),
    "hang": (lambda connection, tool: time.sleep(3), GateTimeout),
    "slow": (drip(allowed("tool"), 0.02), GateTimeout),
    "redirect": (response(b"", "307 Temporary Redirect", extra="Location: http://127.0.0.1:1/v1/calls\r\n"), BadAnswer),
    "page": (response(OK, kind="text/html"), BadAnswer),
    "proxy": (response(b"<p>", "502 Bad Gateway", "text/html"), BadAnswer),
    "empty": (response(b"", "204 No Content"), BadAnswer),
    "no_text": (response(b'{"tool":"\xff"}'), BadAnswer),
    "no_json": (response(b"{"), BadAnswer),
    "list": (response(b"[]"), BadAnswer),
    "other_tool": (allowed("other"), BadAnswer),
    "other_bytes": (allowed("tool", bytes=3), BadAnswer),
    "pending": (allowed("tool", status="pending"), BadAnswer),
    "denied_and_allowed": (allowed("tool", mode="deny"), BadAnswer),
    "problem": (PROBLEM, Problem),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_runs_no_tool_and_is_not_repeated(server: Server, gate: Gate, fault: str) -> None:
    reply, error = FAULTS[fault]
    answering(server, reply)
    gate.session()
    ran: list[Any] = []
    begin = time.monotonic()
    with pytest.raises(error):
        gate.run("tool", "{}", ran.append)
    assert time.monotonic() - begin < 3 and ran == [] and len(server.requests) == 1
    server.reply = lambda connection, tool: connection.sendall(allowed(tool))
    assert gate.decide("tool", "{}").allowed, "the next call has a connection again"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_stream(server: Server, fault: str) -> None:
    reply, error = FAULTS[fault]
    answering(server, reply)
    begin = time.monotonic()
    with stopgate_client.connect(server.url, timeout=1) as gate, pytest.raises((error, BadAnswer)):
        with gate.call("tool", session="s") as call:
            call.feed("{}")
            call.close()
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize("reply", [
    drip(allowed("tool"), 0), drip(allowed("tool"), 0.001), b"HTTP/1.1 100 Continue\r\n\r\n" + allowed("tool"),
    CHUNKED + b"".join(b"1;x=y\r\n%c\r\n" % c for c in OK) + b"0\r\nx: y\r\n\r\n",
    HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(OK) + OK,
])
def test_an_answer_in_any_form(server: Server, reply: Reply) -> None:
    with stopgate_client.connect(server.url) as gate:
        for _ in range(3):
            answering(server, reply)
            assert gate.decide("tool", "{}").args == {}


def test_connections_are_used_again(server: Server, gate: Gate) -> None:
    for _ in range(5):
        assert gate.decide("tool", "{}").allowed
    assert server.connections == 1


def test_a_second_answer_answers_nothing(server: Server, gate: Gate) -> None:
    server.reply = lambda connection, tool: connection.sendall(allowed(tool) * 2)
    assert gate.decide("tool", "{}").allowed
    time.sleep(0.05)
    server.reply = lambda connection, tool: connection.sendall(response(json.dumps(denied(tool)).encode()))
    assert not gate.decide("tool", "{}").allowed


def test_a_redirect_is_not_followed_and_keeps_the_token(server: Server, gate: Gate) -> None:
    with served() as other:
        for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"):
            answering(server, response(b"", status, extra=f"Location: {other.url}/v1/calls\r\n"))
            with pytest.raises(BadAnswer, match=status[:3]):
                gate.decide("tool", "{}")
        assert other.connections == 0


def test_a_cancelled_call_leaves_no_connection(server: Server) -> None:
    hung = threading.Event()

    def reply(connection: socket.socket, tool: str) -> None:
        if tool != "hang":
            return connection.sendall(allowed(tool))
        assert connection.recv(1) == b"", "the client ends the connection"
        hung.set()

    server.reply = reply

    async def main() -> None:
        async with await aio.connect(server.url) as gate:
            task = asyncio.create_task(gate.decide("hang", "{}"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(hung.wait, 3)
            assert (await gate.decide("tool", "{}")).allowed

    asyncio.run(main())


def test_a_closed_gate(server: Server) -> None:
    gate = stopgate_client.connect(server.url)
    gate.decide("tool", "{}")
    gate.close()
    with pytest.raises(GateUnavailable, match="closed"):
        gate.decide("tool", "{}")


def test_a_child_process_does_not_use_the_connections_of_its_parent(server: Server) -> None:
    async def main() -> bytes:
        async with await aio.connect(server.url) as gate:
            await gate.decide("tool", "{}")
            read, write = os.pipe()
            if (child := os.fork()) == 0:
                try:
                    asyncio.new_event_loop().run_until_complete(gate.decide("tool", "{}"))
                except GateUnavailable as err:
                    os.write(write, str(err).encode())
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            os.close(write)
            return os.read(read, 100)

    assert b"belongs to the process that made it" in asyncio.run(main())
    assert len(server.requests) == 1


@pytest.mark.parametrize("url", [
    "unix:///x", "ftp://x", "http://", "http://user@x", "http://:word@x", "http://x?y", "http://x#y", "http://x:port", "http://x/a b", "http://x\n", "x",
])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="want http"):
        stopgate_client.connect(url)


@pytest.mark.parametrize("token", ["a\r\nX: y", "a\nb", "naïve", "日本"])
def test_a_token_that_no_header_can_hold(server: Server, token: str) -> None:
    with pytest.raises(ValueError, match="the token has characters") as refused:
        stopgate_client.connect(server.url, token)
    assert token not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "x..y", "x" * 300, "no-such-host.invalid"])
def test_nothing_listens(host: str) -> None:
    with stopgate_client.connect("http://" + host, timeout=3) as gate:
        with pytest.raises((GateUnavailable, GateTimeout)):
            gate.decide("tool", "{}")
        with pytest.raises((GateUnavailable, GateTimeout)), gate.call("tool", session="s"):
            pass
