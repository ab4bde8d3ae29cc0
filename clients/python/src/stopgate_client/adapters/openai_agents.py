"""The OpenAI Agents SDK: every function tool, MCP tool and handoff of an agent goes through the gate.

    agent = guard(gate, Agent(name="main", tools=[...], handoffs=[...]))
    result = await Runner.run(agent, "...")

A refused call does not run: the model reads why as the call's output, and the run goes on. An allowed one runs with
the arguments that the gate released, and the result policy decides which part of its output the model reads. A
refused handoff leaves the control where it is. If the gate fails, StopgateError ends the run.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Collection
from contextvars import ContextVar
from dataclasses import fields
from typing import Any

from agents import Agent, FunctionTool, Handoff, RunContextWrapper, Tool, handoff
from agents.tool_context import ToolContext

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession, StopgateError

from ._run import Report, Told, arun

_REPORT: Report[Any] = Report(str)
_refused: ContextVar[str | None] = ContextVar("stopgate_refused_handoff", default=None)


def guard(gate: AsyncGate, agent: Agent[Any], *, session: AsyncSession | str | None = None, unjudged: Collection[str] = ()) -> Agent[Any]:
    """Return a copy of an agent whose tools and handoffs the gate decides, and those of the agents that it hands over to.

    `session` is the session of the calls, by default the current one. Tools that are no functions of this program
    (they run at the provider, or change this machine by themselves) raise StopgateError, unless `unjudged` names them.
    """
    return _Guard(gate, session, frozenset(unjudged)).agent(agent)


class _Guard:
    def __init__(self, gate: AsyncGate, session: AsyncSession | str | None, unjudged: frozenset[str]) -> None:
        self._gate, self._session, self._unjudged = gate, session, unjudged
        self._agents: dict[int, tuple[Agent[Any], Agent[Any]]] = {}

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        if id(agent) in self._agents:
            return self._agents[id(agent)][1]
        guard = self
        class Guarded(type(agent)):  # type: ignore[misc]
            async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
                return [guard.tool(tool) for tool in await super().get_all_tools(run_context)]

        members = {f.name: getattr(agent, f.name) for f in fields(agent) if f.init}
        guarded: Agent[Any] = Guarded(**members | {"tools": [self.tool(tool) for tool in agent.tools]})
        self._agents[id(agent)] = self._agents[id(guarded)] = (agent, guarded)
        guarded.handoffs = [self.handoff(guarded, h if isinstance(h, Handoff) else handoff(h)) for h in agent.handoffs]
        return guarded

    def tool(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool) and tool.name in self._unjudged:
            return tool
        if not isinstance(tool, FunctionTool):
            raise StopgateError(f"the tool {tool.name!r} is no function of this program, so its calls cannot be judged: name it in unjudged, or remove it")
        if isinstance(tool.on_invoke_tool, _Judged):
            return tool
        judged = copy.copy(tool)
        judged.on_invoke_tool = _Judged(self, tool)
        return judged

    def handoff(self, sender: Agent[Any], to: Handoff[Any, Any]) -> Handoff[Any, Any]:
        async def invoke(context: RunContextWrapper[Any], args: str) -> Agent[Any]:
            async def call(outcome: AsyncOutcome) -> Agent[Any]:
                return self.agent(await to.on_invoke_handoff(context, outcome.args_text if args else args))

            found = await self.decide(to.tool_name, args, call, Report(lambda _: ""), agent=sender.name)
            _refused.set(found.text if isinstance(found, Told) else None)
            return sender if isinstance(found, Told) else found

        def message(agent: Agent[Any]) -> str:  # the SDK asks for it in the task of invoke, right after it
            return _refused.get() or to.get_transfer_message(agent)

        judged = copy.copy(to)
        judged.on_invoke_handoff, judged.get_transfer_message = invoke, message  # type: ignore[method-assign, assignment]
        return judged

    async def decide(self, tool: str, args: str, call: Callable[[AsyncOutcome], Awaitable[Any]], report: Report[Any], **facts: Any) -> Any:
        return await arun(self._gate, tool, args or "{}", call, report, session=self._session, **facts)


class _Judged:
    """The judged invocation of a tool."""

    def __init__(self, guard: _Guard, tool: FunctionTool) -> None:
        self._guard, self._tool = guard, tool

    async def __call__(self, context: ToolContext[Any], args: str) -> Any:
        definition = {"description": self._tool.description, "parameters": self._tool.params_json_schema}
        facts = {"agent": context.agent.name if context.agent else None, "call_id": context.tool_call_id, "definition": definition}
        call = lambda outcome: self._tool.on_invoke_tool(context, outcome.args_text)  # noqa: E731
        found = await self._guard.decide(context.qualified_tool_name, args, call, _REPORT, **facts)
        return found.text if isinstance(found, Told) else found
