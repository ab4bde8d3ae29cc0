"""The client itself, in asyncio. Gate and AsyncGate are its two faces."""

from __future__ import annotations

import asyncio
import secrets
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional, Union

from . import jsontext, outcome
from ._asking import Asking
from ._decode import decode
from ._models import Answer, Approval, Delivery
from ._transport import Request, Transport, parse, success
from .approvals import OnAsk
from .errors import BadAnswer, BadArguments, Denied, GateTimeout, Problem

Args = Union[Mapping[str, Any], str, bytes]
"""Arguments: a mapping, or the text as the model wrote it."""


@dataclass(frozen=True)
class SessionState:
    """A session, and the key of the program that began it. Without a key its questions go to the approval queue."""

    id: str
    key: Optional[str] = field(default=None, repr=False)  # logs and traces that print locals would hand it on
    agent: Optional[str] = None


@dataclass(frozen=True)
class Facts:
    """What is known of a call besides its arguments."""

    tool: str
    session: SessionState
    turn: Optional[str] = None
    agent: Optional[str] = None
    call_id: Optional[str] = None
    server: Optional[str] = None
    conversation: Optional[str] = None
    definition: Optional[Mapping[str, Any]] = None

    def body(self) -> dict[str, Any]:
        """Returns the members of a request, without those that are not known."""
        found = {
            "tool": self.tool, "session": self.session.id, "turn": self.turn, "agent": self.agent or self.session.agent,
            "call_id": self.call_id, "server": self.server, "conversation": self.conversation, "definition": self.definition,
        }
        return {name: value for name, value in found.items() if value is not None}


class Core:
    """Decides calls over a transport. It repeats no request, and no error allows a call."""

    def __init__(
        self, transport: Transport, timeout: float, on_ask: Optional[OnAsk] = None, approver: Optional[Transport] = None
    ) -> None:
        if not timeout > 0:
            raise ValueError("timeout is a positive number of seconds")
        if on_ask is not None and transport.remote and approver is None:
            raise ValueError("on_ask at a remote gate needs approve_token: the token that proposes a call cannot approve it")
        self.transport, self.timeout, self.on_ask = transport, timeout, on_ask
        self._approver = approver
        self._sessions: dict[str, SessionState] = {}
        self._own: Optional[SessionState] = None
        self._begin_lock = asyncio.Lock()
        self._watch: Optional[asyncio.Task[None]] = None

    async def start(self) -> None:
        await self.transport.start(self.timeout)

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._approver is not None:
            await self._approver.close()
        await self.transport.close()

    # Sessions

    async def session(self, named: Union[None, str, SessionState], agent: Optional[str] = None) -> SessionState:
        """Returns the session of a name. None is the session of this gate object."""
        if isinstance(named, SessionState):
            return named
        known = self._own if named is None else self._sessions.get(named)
        if known is not None:
            return known
        async with self._begin_lock:
            if named is None:
                self._own = self._own or await self.begin(None)
                return self._own
            return self._sessions.get(named) or await self.begin(named, agent)

    async def begin(self, named: Optional[str], agent: Optional[str] = None) -> SessionState:
        """Begins a session. One that has a past, or is somebody else's, is used without a key."""
        if named is not None and (state := self._sessions.get(named)) is not None:
            return SessionState(state.id, state.key, agent or state.agent)
        state = SessionState(named or "", None, agent)
        if named is None or not self.transport.remote:
            try:
                body = None if named is None else {"session": named}
                found = await self.ask("POST", "/v1/sessions", body)
                if not isinstance(found, dict) or type(found.get("session")) is not str or not found["session"]:
                    raise BadAnswer("the answer is not an answer of a gate: it names no session")
                if named is not None and found["session"] != named:
                    raise BadAnswer("the answer is not an answer of a gate: it names another session")
                key = found.get("key")
                state = SessionState(found["session"], key if isinstance(key, str) and key else None, agent)
            except Problem as problem:
                if named is None or problem.status != 409:
                    raise
        self._sessions[state.id] = state
        return state

    async def ask(
        self, method: str, path: str, body: Any = None, session: Optional[SessionState] = None, approver: bool = False
    ) -> Any:
        """Sends a request, authorized by the key of a session or as the approver, and returns the JSON of the response."""
        headers = {"Stopgate-Session-Key": session.key} if session is not None and session.key else {}
        text = body if isinstance(body, str) else None if body is None else jsontext.encode(body)
        transport = self._approver if approver and self._approver is not None else self.transport
        return success(await transport.request(Request(method, path, text, headers), self.timeout))

    # Calls

    async def decide(self, facts: Facts, args: Args, wait: Optional[float]) -> Answer:
        """Returns the decision about a call with complete arguments, after people answered if wait permits."""
        text = arguments(args)
        body = {**facts.body(), "raw": text}
        request = Request("POST", "/v1/calls", jsontext.encode(body), await self.headers(facts.session))
        response = await self.transport.request(request, self.timeout)
        answer = outcome.check(decode(Answer, success(response)), facts.tool, response.status, len(text.encode()))
        if answer.status == "pending":
            answer = await self.settle(answer, Asking(self, facts.session), wait)
        return answer

    async def headers(self, session: SessionState) -> dict[str, str]:
        """Returns the headers of a proposal. An approver in the program is announced with it.

        Its own key makes every proposal a call of its own: without one the gate repeats its decision,
        and an approval, for the same turn and call id, and a call that a framework repeats would run on it.
        """
        found = {"Prefer": "args-text", "Idempotency-Key": secrets.token_hex(16)}
        if session.key:
            found["Stopgate-Session-Key"] = session.key
            if self.on_ask is not None:
                found["Stopgate-Approver"] = "program"
        elif self.on_ask is not None and self._approver is not None:
            await self._present(self._approver)
        return found

    def answers(self, session: SessionState) -> bool:
        """Whether on_ask can answer questions of a session."""
        return self.on_ask is not None and (session.key is not None or self._approver is not None)

    async def settle(self, answer: Answer, asking: Asking, wait: Optional[float]) -> Answer:
        """Waits for the decision about a pending call while people are asked.

        wait limits the time without an answer of on_ask; None waits until the gate ends the question.
        """
        loop = asyncio.get_running_loop()
        until: Optional[float] = None
        last = False
        try:
            while answer.status == "pending":
                asking.check()
                if answer.approval is not None:
                    asking.begin(answer.approval.id, complete=True)
                chunk = max(1, min(20, int(self.timeout / 2)))
                if asking.active:
                    until = None
                elif wait is not None:
                    until = until or loop.time() + wait
                    if loop.time() >= until:
                        if last or not asking.answered:
                            return answer
                        last = True  # the decision that follows from the answer
                    chunk = max(1, min(chunk, round(until - loop.time())))
                answer = await self.look(answer, chunk, asking)
            asking.check()
            return answer
        finally:
            asking.stop()

    async def look(self, answer: Answer, seconds: int, asking: Asking) -> Answer:
        """Returns how far a call is, after at most some seconds, or when on_ask leaves the question to others."""
        path = "/v1/calls/" + urllib.parse.quote(answer.id, safe="")
        request = Request("GET", path, None, {"Prefer": f"wait={seconds}, args-text"})
        looking = asyncio.ensure_future(self.transport.request(request, self.timeout))
        try:
            await asking.either(looking)
            if not looking.done():
                return answer
            response = looking.result()
        finally:
            looking.cancel()
        return outcome.check(decode(Answer, success(response)), answer.tool, response.status, id=answer.id)

    async def question(self, id: str, session: SessionState) -> Approval:
        """Returns a question as it is now."""
        path = "/v1/approvals/" + urllib.parse.quote(id, safe="")
        found = decode(Approval, await self.ask("GET", path, None, session, approver=True))
        if found.id != id:
            raise BadAnswer(f"the answer is not an answer of a gate: it is about the question {found.id!r}")
        return found

    async def answer(self, id: str, body: str, session: SessionState) -> None:
        """Answers a question."""
        await self.ask("POST", "/v1/approvals/" + urllib.parse.quote(id, safe=""), body, session, approver=True)

    async def ran(
        self, decision: outcome.Decision, result: Any, failed: Optional[bool], absent: Optional[bool]
    ) -> outcome.Delivery:
        """Reports the result of an allowed call and returns what the model may receive of it."""
        if not decision.allowed:
            raise Denied(decision)
        text = result_text(result)
        body = {"data": text, "failed": failed, "absent": absent}
        path = f"/v1/calls/{urllib.parse.quote(decision.id, safe='')}/result"
        found = await self.ask("POST", path, {k: v for k, v in body.items() if v is not None})
        return outcome.Delivery(decision.tool, decode(Delivery, found), result if isinstance(result, str) else text)

    async def handoff(self, session: SessionState, body: Mapping[str, Any]) -> Answer:
        """Returns the decision whether one agent may hand control to another."""
        found = {name: value for name, value in {**body, "session": session.id}.items() if value is not None}
        request = Request("POST", "/v1/handoffs", jsontext.encode(found), {"Prefer": "args-text"})
        response = await self.transport.request(request, self.timeout)
        return outcome.check(decode(Answer, success(response)), "handoff", response.status)

    # The approver of a remote gate

    async def _present(self, approver: Transport) -> None:
        """Watches the questions, so that the gate counts this program as present."""
        if self._watch is not None and not self._watch.done():
            return
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watch = asyncio.get_running_loop().create_task(_follow(approver, ready))
        done, _ = await asyncio.wait({ready}, timeout=self.timeout)
        if not done:
            self._watch.cancel()
            raise GateTimeout("the gate did not answer the approver within the deadline")
        ready.result()


async def _follow(approver: Transport, ready: asyncio.Future[None]) -> None:
    try:
        exchange = await approver.open(Request("GET", "/v1/approvals/watch"))
        try:
            await exchange.finish()
            while (line := await exchange.line()) is not None:
                parse(line)
                if not ready.done():
                    ready.set_result(None)
        finally:
            exchange.cancel()
    except Exception as err:
        if not ready.done():
            ready.set_exception(err)
    if not ready.done():
        ready.set_exception(BadAnswer("the gate shows no questions"))


def arguments(args: Args) -> str:
    """Returns the text of arguments, exactly as it will be judged."""
    if isinstance(args, (bytes, bytearray)):
        try:
            return args.decode("utf-8")
        except UnicodeDecodeError:
            raise BadArguments("the arguments are not UTF-8") from None
    if isinstance(args, str):
        jsontext.check_unicode(args)
        return args
    found = jsontext.plain(args)
    if not isinstance(found, dict):
        raise BadArguments(f"arguments are a mapping, or text as the model wrote it, not {type(args).__name__}")
    return jsontext.encode(found)


def result_text(result: Any) -> str:
    """Returns the text of a result: text as it is, everything else as JSON."""
    if isinstance(result, (bytes, bytearray)):
        return result.decode("utf-8", "replace")
    if isinstance(result, str):
        return result.encode("utf-8", "replace").decode("utf-8")
    return jsontext.encode(result)
