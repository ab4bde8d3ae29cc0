"""The gate for programs without asyncio."""

from __future__ import annotations

import asyncio
import atexit
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional, TypeVar, Union, overload

from . import _session, tools
from ._core import Args, Core
from ._face import facts_of, finish, opener, prepare, started
from ._models import Answer
from ._portal import Portal
from .call import Call
from .outcome import Decision, Delivery
from .session import Session
from .streams import AfterDenial, GatedStream, Judge
from .tools import OnDenied, Tool

E = TypeVar("E")
F = TypeVar("F", bound=Callable[..., Any])
Named = Union[None, str, Session]


class Outcome(Decision):
    """A decision, and the report of what came of the call."""

    def __init__(self, gate: Gate, answer: Answer) -> None:
        super().__init__(answer)
        self._gate = gate

    def ran(self, result: Any, failed: Optional[bool] = None, absent: Optional[bool] = None) -> Delivery:
        """Reports the result of the call, once, and returns what the model may receive of it.

        Text is reported as it is, everything else as JSON. failed: whether the tool failed, None if
        that is not known. absent: there is nothing where the call looked.
        """
        delivery: Delivery = self._gate._run(self._gate._core.ran(self, result, failed, absent))
        return delivery


class Gate:
    """A gate, from any thread. `local` and `connect` make one; close it, or use it as a context manager."""

    def __init__(self, make: Callable[[], Core]) -> None:
        self._portal = Portal()
        try:
            self._core = self._portal.run(started(make))
        except BaseException:
            self._portal.close()
            raise
        atexit.register(self.close)

    def _run(self, work: Any) -> Any:
        return self._portal.run(work)

    async def _wait(self, work: Any) -> Any:
        """Waits in the caller's event loop for work in the gate's own."""
        return await asyncio.wrap_future(self._portal.submit(work))

    def close(self) -> None:
        """Ends the connection. Open calls are cancelled."""
        atexit.unregister(self.close)
        try:
            self._portal.run(self._core.close())
        except Exception:  # it is closed, or belongs to a parent process
            return
        self._portal.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _decide(self, tool: str, args: Args, session: Named, wait: Optional[float], facts: Mapping[str, Any]) -> Outcome:
        return Outcome(self, await self._core.decide(await prepare(self._core, tool, session, facts), args, wait))

    def decide(
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
    ) -> Outcome:
        """Returns the decision about a call.

        args is a mapping, or the text as the model wrote it. wait limits the seconds for which people
        are waited for: None until the gate ends the question, 0 returns a pending outcome at once. A
        denial is an outcome; an error means that there is no decision, and that the call must not run.
        """
        facts = facts_of(turn, agent, call_id, server, definition, conversation)
        found: Outcome = self._run(self._decide(tool, args, session, wait, facts))
        return found

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
    ) -> Call:
        """Begins a call whose arguments are still being written: a context manager with feed and close."""
        open = opener(self._core, session, {"turn": turn, "agent": agent, "server": server, "conversation": conversation}, wait)
        return Call(self, self._run(open(tool, call_id, definition)))

    def handoff(
        self, to: str, payload: Any = None, from_agent: Optional[str] = None, session: Named = None,
        turn: Optional[str] = None, call_id: Optional[str] = None,
    ) -> Outcome:
        """Returns the decision whether one agent may hand control to another."""
        body = {"to": to, "from": from_agent, "payload": payload, "turn": turn, "call_id": call_id}

        async def decide() -> Outcome:
            facts = await prepare(self._core, "handoff", session, {})
            return Outcome(self, await self._core.handoff(facts.session, body))

        found: Outcome = self._run(decide())
        return found

    def session(
        self,
        id: Optional[str] = None,
        data: Optional[Mapping[str, Any]] = None,
        user_text: Optional[str] = None,
        system_text: Optional[str] = None,
        agent: Optional[str] = None,
        known: Optional[Iterable[str]] = None,
    ) -> Session:
        """Begins a session. As a context manager it is the current one of its block.

        known lists the sources (user, system, results) that the program reports completely; without
        it those that are reported count.
        """
        return Session(self, self._run(_session.begin(self._core, id, data, user_text, system_text, agent, known)))

    def run(
        self, tool: str, args: Args, function: Callable[[dict[str, Any]], Any], on_denied: OnDenied = "raise",
        session: Named = None, wait: Optional[float] = None, **facts: Any,
    ) -> Any:
        """Decides a call, runs function with the judged arguments, reports the result, and returns what is delivered of it."""
        tools.check(on_denied)
        outcome = self.decide(tool, args, session=session, wait=wait, **facts)
        if not outcome.allowed:
            return tools.refuse(outcome, None, on_denied)
        try:
            text, result = tools.reported(function(outcome.args))
        except Exception as err:
            error = err
        else:
            return tools.deliver(outcome, outcome.ran(text, failed=False), result, on_denied)
        return tools.raised(outcome, outcome.ran(str(error), failed=True), error, on_denied)

    async def _run_async(
        self, tool: str, args: Args, function: Callable[[dict[str, Any]], Any], on_denied: OnDenied, session: Named,
        wait: Optional[float], facts: Mapping[str, Any],
    ) -> Any:
        outcome: Outcome = await self._wait(self._decide(tool, args, session, wait, facts))
        return await finish(
            outcome, function, on_denied, lambda result, failed: self._wait(self._core.ran(outcome, result, failed, None))
        )

    def wrap(
        self, function: F, name: Optional[str] = None, parameters: Any = None, on_denied: OnDenied = "raise",
        session: Named = None, wait: Optional[float] = None,
    ) -> F:
        """Returns the function with the gate in front of it.

        Its arguments, defaults included, are judged by name; the judged values are what it gets; its
        result is reported, and the part that the result policy delivers is returned. parameters is the
        JSON Schema of the parameters, or a model of pydantic; without it the type hints count.
        """
        tool = Tool(function, name, parameters, on_denied)
        signature, facts = tool.signature, {"definition": tool.signature.definition}

        if tools.is_async(function):

            @functools.wraps(function)
            async def gated(*args: Any, **kwargs: Any) -> Any:
                judged = signature.bind(args, kwargs)
                run = lambda found: function(**signature.restore(found))  # noqa: E731
                return await self._run_async(tool.name, judged, run, on_denied, session, wait, facts)
        else:

            @functools.wraps(function)
            def gated(*args: Any, **kwargs: Any) -> Any:
                judged = signature.bind(args, kwargs)
                run = lambda found: function(**signature.restore(found))  # noqa: E731
                return self.run(tool.name, judged, run, on_denied, session, wait, **facts)

        return gated  # type: ignore[return-value]

    def stream(
        self, events: Iterable[E], session: Named = None, turn: Optional[str] = None, agent: Optional[str] = None,
        server: Optional[str] = None, definitions: Optional[Mapping[str, Mapping[str, Any]]] = None,
        conversation: Optional[str] = None, wait: Optional[float] = None, after_denial: AfterDenial = "close",
    ) -> GatedStream[E, Outcome]:
        """Iterates the events of a raw OpenAI or Anthropic SDK stream, and judges its calls while they arrive.

        After the iteration `calls` has the decisions. The stream is closed when a call is refused before
        its end and no other one is open, unless after_denial is "continue". definitions are the
        declarations of the tools by name.
        """
        open = opener(self._core, session, {"turn": turn, "agent": agent, "server": server, "conversation": conversation}, wait)
        return GatedStream(events, Judge(open, lambda a: Outcome(self, a), definitions or {}, after_denial), self._run)

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
