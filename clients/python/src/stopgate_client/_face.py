"""The parts that the synchronous and the asynchronous gate share."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Optional, Protocol, Union

from . import _session, tools
from ._call import OpenCall
from ._core import Core, Facts, SessionState
from .errors import BadArguments
from .outcome import Decision, Delivery
from .tools import OnDenied


class HasState(Protocol):
    """A session of either gate."""

    @property
    def state(self) -> SessionState: ...


async def started(make: Callable[[], Core]) -> Core:
    """Returns a client that is connected."""
    core = make()
    try:
        await core.start()
    except BaseException:
        await core.close()
        raise
    return core


def facts_of(
    turn: Optional[str], agent: Optional[str], call_id: Optional[str], server: Optional[str],
    definition: Optional[Mapping[str, Any]], conversation: Optional[str],
) -> dict[str, Any]:
    """Returns the facts about a call by their names."""
    return {
        "turn": turn, "agent": agent, "call_id": call_id, "server": server, "definition": definition, "conversation": conversation,
    }


Named = Union[None, str, HasState, SessionState]


def named(core: Core, session: Named) -> Union[None, str, SessionState]:
    """Returns the session that is named, else the current one of the caller's context, else None."""
    if session is None:
        return _session.current_of(core)
    return session if isinstance(session, (str, SessionState)) else session.state


async def prepare(core: Core, tool: str, session: Named, facts: Mapping[str, Any]) -> Facts:
    """Returns the facts of a call, in the session that is named, else in the current one, else in the gate object's own."""
    if not isinstance(tool, str) or not tool:
        raise BadArguments(f"a tool has a name, not {tool!r}")
    return Facts(tool, await core.session(named(core, session)), **facts)


def opener(
    core: Core, session: Named, facts: Mapping[str, Any], wait: Optional[float]
) -> Callable[[str, Optional[str], Optional[Mapping[str, Any]]], Coroutine[Any, Any, OpenCall]]:
    """Returns a function that opens calls in the session of now."""
    state = named(core, session)

    async def open(tool: str, call_id: Optional[str], definition: Optional[Mapping[str, Any]]) -> OpenCall:
        known = await prepare(core, tool, state, {**facts, "call_id": call_id, "definition": definition})
        opened = OpenCall(core, known, wait)
        await opened.begin()
        return opened

    return open


async def finish(
    outcome: Decision,
    function: Callable[[dict[str, Any]], Any],
    on_denied: OnDenied,
    ran: Callable[[Any, bool], Awaitable[Delivery]],
) -> Any:
    """Runs a function with the judged arguments, reports its result, and returns what is delivered of it.

    A function that is cancelled is not reported: nobody knows whether it had an effect.
    """
    if not outcome.allowed:
        return tools.refuse(outcome, None, on_denied)
    try:
        result = function(outcome.args)
        text, result = tools.reported(await result if inspect.isawaitable(result) else result)
    except Exception as err:
        error = err
    else:
        return tools.deliver(outcome, await ran(text, False), result, on_denied)
    return tools.raised(outcome, await ran(str(error), True), error, on_denied)
