"""Microsoft Agent Framework: a function middleware through which every tool call of an agent passes.

    Agent(client, name="clerk", tools=[...], middleware=[..., Stopgate(gate, agent="clerk")])

It covers function tools, MCP tools, agents as tools and the tools of handoffs. A refused call does not run: the model
reads why, and the run goes on. If the gate fails, MiddlewareFailure ends the run.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware, MiddlewareFailure, MiddlewareTermination

# The freeze of arguments that the framework's own security middleware uses; it has no public name.
from agent_framework._tools import _SECURITY_ARGUMENTS_SNAPSHOT_CONTEXT_KEY as _FROZEN
from agent_framework._tools import _argument_authority_token as _token
from agent_framework.exceptions import UserInputRequiredException

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession, StopgateError

from ._run import Report, Told, arun


class Stopgate(FunctionMiddleware):
    """Judges the tool calls of one agent.

    `session` is the session of the calls, by default the current one. `agent` is the agent's name in rules and
    handoffs. Middleware before it may change the arguments: the gate judges them as they then are. If middleware
    after it changes them, the framework ends the run with MiddlewareFailure.
    """

    def __init__(self, gate: AsyncGate, *, session: AsyncSession | str | None = None, agent: str | None = None) -> None:
        self._gate = gate
        self._facts: dict[str, Any] = {"session": session, "agent": agent}

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Judge a call, run it if it is allowed, and report its result."""
        function, ended = context.function, None

        async def call(outcome: AsyncOutcome) -> Any:
            nonlocal ended
            context.arguments = outcome.args
            context.metadata[_FROZEN] = _token(dict(outcome.args), boundary="security policy")
            try:
                await call_next()
            except MiddlewareTermination as termination:  # of a handoff, or of other middleware that sets the result
                ended = termination
            return context.result

        facts = {
            "call_id": context.metadata.get("call_id"),
            "definition": {"description": function.description, "parameters": function.parameters()},
        }
        try:
            found = await arun(self._gate, function.name, _plain(context.arguments), call, _REPORT, passes=_PASSES, **self._facts, **facts)
        except StopgateError as error:
            raise MiddlewareFailure(f"stopgate: {function.name}: {error}") from error
        if isinstance(found, Told):
            context.result = found.text
        if ended is not None:
            raise ended


def _plain(arguments: Any) -> dict[str, Any]:
    return dict(arguments.model_dump(mode="json")) if hasattr(arguments, "model_dump") else dict(arguments)


def _data(result: Any) -> str:
    """Return the texts of a result, one below the other, or all of it as JSON if it has more than texts."""
    if isinstance(result, str):
        return result
    items = result if isinstance(result, list) else [result]
    if items and all(isinstance(item, Content) and item.type == "text" for item in items):
        return "\n".join(item.text or "" for item in items)
    return json.dumps([item.to_dict() if isinstance(item, Content) else item for item in items], ensure_ascii=False, default=str)


_REPORT: Report[Any] = Report(_data)
_PASSES = (MiddlewareFailure, UserInputRequiredException)
