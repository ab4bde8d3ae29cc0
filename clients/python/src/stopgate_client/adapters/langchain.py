"""LangChain agents and LangGraph's ToolNode: every tool call goes through the gate.

    agent = create_agent(model, tools, middleware=[..., Stopgate(gate)])       # last, so that it judges what others changed
    node = ToolNode(tools, awrap_tool_call=Stopgate(gate).awrap_tool_call)     # wrap_tool_call for a gate without asyncio

A refused call does not run: the model reads why in the call's ToolMessage, and the run goes on. An allowed one
runs with the arguments that the gate released, and the result policy decides which part of its result the model
reads. If the gate fails, StopgateError ends the run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from stopgate_client import AsyncGate, AsyncSession, Gate, Session

from ._run import Report, Told, arun, run

Result = ToolMessage | Command[Any]


class Stopgate(AgentMiddleware[Any, Any]):
    """Judges the tool calls of one agent.

    `gate` is a Gate for `invoke` and `stream`, an AsyncGate for `ainvoke` and `astream`; the other kind of call
    raises NotImplementedError. `session` is the session of the calls, by default the current one. `agent` is the
    agent's name in rules and handoffs.
    """

    def __init__(self, gate: Gate | AsyncGate, *, session: Session | AsyncSession | str | None = None, agent: str | None = None) -> None:
        super().__init__()
        self._gate = gate
        self._facts: dict[str, Any] = {"session": session, "agent": agent}

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Judge a call, run it if it is allowed, and report its result."""
        if not isinstance(self._gate, Gate):
            raise NotImplementedError("this Stopgate has an AsyncGate: use ainvoke or astream")
        name, args, facts = _proposed(request)
        call = lambda outcome: handler(_judged(request, outcome.args))  # noqa: E731
        found = run(self._gate, name, args, call, _REPORT, passes=(GraphBubbleUp,), **self._facts, **facts)
        return _message(request, found) if isinstance(found, Told) else found

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]) -> Result:
        """Judge a call, run it if it is allowed, and report its result."""
        if not isinstance(self._gate, AsyncGate):
            raise NotImplementedError("this Stopgate has a Gate without asyncio: use invoke or stream")
        name, args, facts = _proposed(request)
        call = lambda outcome: handler(_judged(request, outcome.args))  # noqa: E731
        found = await arun(self._gate, name, args, call, _REPORT, passes=(GraphBubbleUp,), **self._facts, **facts)
        return _message(request, found) if isinstance(found, Told) else found


def _proposed(request: ToolCallRequest) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the call's tool and arguments, and the facts that the request has about it."""
    facts: dict[str, Any] = {"call_id": request.tool_call["id"], "turn": _turn(request)}
    if request.tool is not None:
        declared = convert_to_openai_tool(request.tool)["function"]
        facts["definition"] = {"description": declared.get("description", ""), "parameters": declared["parameters"]}
    return request.tool_call["name"], request.tool_call["args"], facts


def _turn(request: ToolCallRequest) -> str | None:
    """Return the id of the model's message that made the call, or None."""
    messages = request.state.get("messages", ()) if isinstance(request.state, dict) else ()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message.id
    return None


def _judged(request: ToolCallRequest, args: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": args})


def _message(request: ToolCallRequest, told: Told) -> ToolMessage:
    status = "error" if told.status == "denied" else "success"
    return ToolMessage(told.text, name=request.tool_call["name"], tool_call_id=request.tool_call["id"], status=status)


def _content(result: Any) -> Any:
    """Return the texts of a result: of its message, or of the messages and the rest of a command's update."""
    if isinstance(result, ToolMessage):
        return result.content
    if isinstance(result, list):
        return [_content(part) for part in result]
    if not isinstance(result.update, dict):
        return str(result.update)
    return [m.content if isinstance(m, ToolMessage) else str(m) for m in result.update.get("messages", ())]


_REPORT: Report[Result] = Report(_content, lambda r: r.status == "error" if isinstance(r, ToolMessage) else None)
