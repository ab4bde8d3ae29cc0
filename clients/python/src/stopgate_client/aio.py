"""The gate for asyncio.

    gate = await stopgate_client.aio.local()

A gate object belongs to the event loop in which it was made.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterable, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextvars import Token
from typing import Any, Optional, TypeVar, Union, overload

from . import _session, tools
from ._call import OpenCall
from ._connect import local_core, remote_core
from ._core import Args, Core, SessionState
from ._face import facts_of, finish, opener, prepare, started
from ._models import Answer, Verdict
from ._program import StrPath
from ._session import Reporter
from .approvals import OnAsk
from .outcome import Decision, Delivery
from .streams import AfterDenial, AsyncGatedStream, Judge
from .tools import OnDenied, Tool

E = TypeVar("E")
F = TypeVar("F", bound=Callable[..., Any])
Named = Union[None, str, "AsyncSession"]


async def local(
    policy: Union[None, StrPath, Sequence[StrPath]] = None,
    project: Optional[StrPath] = None,
    binary: Optional[StrPath] = None,
    timeout: float = 30.0,
    on_ask: Optional[OnAsk] = None,
    socket: Optional[StrPath] = None,
    start: bool = True,
) -> AsyncGate:
    """Returns the gate of this user and project; see stopgate_client.local."""
    return AsyncGate(await started(local_core(policy, project, binary, timeout, on_ask, socket, start)))


async def connect(
    url: str,
    token: Optional[str] = None,
    approve_token: Optional[str] = None,
    timeout: float = 30.0,
    on_ask: Optional[OnAsk] = None,
) -> AsyncGate:
    """Returns the gate at an address; see stopgate_client.connect."""
    return AsyncGate(await started(remote_core(url, token, approve_token, timeout, on_ask)))


class AsyncOutcome(Decision):
    """A decision, and the report of what came of the call."""

    def __init__(self, core: Core, answer: Answer) -> None:
        super().__init__(answer)
        self._core = core

    async def ran(self, result: Any, failed: Optional[bool] = None, absent: Optional[bool] = None) -> Delivery:
        """Reports the result of the call, once, and returns what the model may receive of it."""
        return await self._core.ran(self, result, failed, absent)


class AsyncGate:
    """A gate in asyncio. The methods are those of Gate."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def close(self) -> None:
        """Ends the connection. Open calls are cancelled."""
        await self._core.close()

    async def __aenter__(self) -> AsyncGate:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def decide(
        self,
        tool: str,
        args: Args,
        session: Named = None,
        turn: Optional[str] = None,
        agent: Optional[str] = None,
        call_id: Optional[str] = None,
        server: Optional[str] = None,
        definition: Optional[Mapping[str, Any]] = None,
        conversation: Optional[str] = None,
        wait: Optional[float] = None,
    ) -> AsyncOutcome:
        """Returns the decision about a call; see Gate.decide."""
        facts = await prepare(self._core, tool, session, facts_of(turn, agent, call_id, server, definition, conversation))
        return AsyncOutcome(self._core, await self._core.decide(facts, args, wait))

    def call(
        self,
        tool: str,
        session: Named = None,
        turn: Optional[str] = None,
        agent: Optional[str] = None,
        call_id: Optional[str] = None,
        server: Optional[str] = None,
        definition: Optional[Mapping[str, Any]] = None,
        conversation: Optional[str] = None,
        wait: Optional[float] = None,
    ) -> AsyncCall:
        """Begins a call whose arguments are still being written: an asynchronous context manager with feed and close."""
        open = opener(self._core, session, {"turn": turn, "agent": agent, "server": server, "conversation": conversation}, wait)
        return AsyncCall(self._core, lambda: open(tool, call_id, definition))

    async def handoff(
        self, to: str, payload: Any = None, from_agent: Optional[str] = None, session: Named = None,
        turn: Optional[str] = None, call_id: Optional[str] = None,
    ) -> AsyncOutcome:
        """Returns the decision whether one agent may hand control to another."""
        state = (await prepare(self._core, "handoff", session, {})).session
        body = {"to": to, "from": from_agent, "payload": payload, "turn": turn, "call_id": call_id}
        return AsyncOutcome(self._core, await self._core.handoff(state, body))

    def session(
        self,
        id: Optional[str] = None,
        data: Optional[Mapping[str, Any]] = None,
        user_text: Optional[str] = None,
        system_text: Optional[str] = None,
        agent: Optional[str] = None,
        known: Optional[Iterable[str]] = None,
    ) -> _Beginning:
        """Begins a session: `session = await gate.session()`, or `async with gate.session() as session`."""
        return _Beginning(lambda: _session.begin(self._core, id, data, user_text, system_text, agent, known))

    async def run(
        self, tool: str, args: Args, function: Callable[[dict[str, Any]], Any], on_denied: OnDenied = "raise",
        session: Named = None, wait: Optional[float] = None, **facts: Any,
    ) -> Any:
        """Decides a call, runs function with the judged arguments, reports the result, and returns what is delivered of it."""
        tools.check(on_denied)
        outcome = await self.decide(tool, args, session=session, wait=wait, **facts)
        return await finish(outcome, function, on_denied, outcome.ran)

    def wrap(
        self, function: F, name: Optional[str] = None, parameters: Any = None, on_denied: OnDenied = "raise",
        session: Named = None, wait: Optional[float] = None,
    ) -> F:
        """Returns an async function with the gate in front of the function; see Gate.wrap.

        A plain function runs on a thread, and its wrapper has to be awaited, too.
        """
        tool = Tool(function, name, parameters, on_denied)
        signature, definition = tool.signature, tool.signature.definition
        threaded = not tools.is_async(function)

        def run(judged: dict[str, Any]) -> Any:
            restored = signature.restore(judged)
            return asyncio.to_thread(function, **restored) if threaded else function(**restored)

        @functools.wraps(function)
        async def gated(*args: Any, **kwargs: Any) -> Any:
            judged = signature.bind(args, kwargs)
            return await self.run(tool.name, judged, run, on_denied, session, wait, definition=definition)

        return gated  # type: ignore[return-value]

    def stream(
        self, events: AsyncIterable[E], session: Named = None, turn: Optional[str] = None, agent: Optional[str] = None,
        server: Optional[str] = None, definitions: Optional[Mapping[str, Mapping[str, Any]]] = None,
        conversation: Optional[str] = None, wait: Optional[float] = None, after_denial: AfterDenial = "close",
    ) -> AsyncGatedStream[E, AsyncOutcome]:
        """Iterates the events of a raw OpenAI or Anthropic SDK stream, and judges its calls; see Gate.stream."""
        open = opener(self._core, session, {"turn": turn, "agent": agent, "server": server, "conversation": conversation}, wait)
        return AsyncGatedStream(events, Judge(open, lambda a: AsyncOutcome(self._core, a), definitions or {}, after_denial))

    @overload
    def tool(self, function: F) -> F: ...
    @overload
    def tool(
        self, *, name: Optional[str] = None, parameters: Any = None, on_denied: OnDenied = "raise",
        session: Named = None, wait: Optional[float] = None,
    ) -> Callable[[F], F]: ...
    def tool(self, function: Any = None, **options: Any) -> Any:
        """Decorates a function with `wrap`."""
        if function is not None:
            return self.wrap(function)
        return lambda f: self.wrap(f, **options)


class AsyncCall:
    """A call whose arguments are still being written. Leaving it without close() abandons it."""

    def __init__(self, core: Core, begin: Callable[[], Awaitable[OpenCall]]) -> None:
        self._core, self._begin = core, begin
        self._opened: Optional[OpenCall] = None
        self._outcome: Optional[AsyncOutcome] = None

    async def _open(self) -> OpenCall:
        if self._opened is None:
            self._opened = await self._begin()
        return self._opened

    async def feed(self, chunk: Union[str, bytes]) -> Optional[Verdict]:
        """Sends a part of the arguments and returns the newest verdict; see Call.feed."""
        return await (await self._open()).feed(chunk)

    @property
    def refused(self) -> bool:
        """Whether the call is denied or skipped already."""
        return self._opened is not None and self._opened.refused

    @property
    def verdict(self) -> Optional[Verdict]:
        """The newest verdict. It permits nothing: only the outcome of close() does."""
        return None if self._opened is None else self._opened.verdict

    async def close(self) -> AsyncOutcome:
        """Ends the arguments and returns the decision, after people answered."""
        if self._outcome is None:
            self._outcome = AsyncOutcome(self._core, await (await self._open()).close())
        return self._outcome

    async def cancel(self) -> None:
        """Abandons the call. It must not run."""
        if self._opened is not None:
            await self._opened.cancel()

    async def __aenter__(self) -> AsyncCall:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._outcome is None:
            await self.cancel()


class AsyncSession:
    """A session of a gate in asyncio. In an async with statement it is the current session of the block."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._tokens: list[Token[Any]] = []

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def state(self) -> SessionState:
        return self._reporter.state

    async def user(self, text: str, id: Optional[str] = None) -> None:
        """Reports a message of the person; see Session.user."""
        await self._reporter.text("user", text, id)

    async def system(self, text: str) -> None:
        """Reports an instruction of the operator."""
        await self._reporter.text("system", text)

    async def set_data(self, data: Mapping[str, Any]) -> None:
        """Replaces the data of the session."""
        await self._reporter.data(data)

    async def approved(self, name: str) -> None:
        """Reports that a person gave the approval of a name."""
        await self._reporter.approved(name)

    def __enter__(self) -> AsyncSession:
        self._tokens.append(_session.current.set((*_session.current.get(), (self._reporter.core, self.state))))
        return self

    def __exit__(self, *_: object) -> None:
        _session.current.reset(self._tokens.pop())

    async def __aenter__(self) -> AsyncSession:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()


class _Beginning:
    """A session that begins when it is awaited or entered."""

    def __init__(self, begin: Callable[[], Any]) -> None:
        self._begin = begin
        self._session: Optional[AsyncSession] = None

    async def _get(self) -> AsyncSession:
        if self._session is None:
            self._session = AsyncSession(await self._begin())
        return self._session

    def __await__(self) -> Generator[Any, None, AsyncSession]:
        return self._get().__await__()

    async def __aenter__(self) -> AsyncSession:
        return (await self._get()).__enter__()

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            self._session.__exit__()
