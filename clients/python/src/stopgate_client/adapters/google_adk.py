"""Google ADK: a plugin that asks the gate before every tool of a runner, and filters every result.

    app = App(name="shop", root_agent=agent, plugins=[StopgatePlugin(gate)])

It covers function tools, MCP tools, agents as tools and `transfer_to_agent`, of all agents of the runner. A refused
call does not run: the model reads why, and the run goes on. If the gate fails, RuntimeError ends the run.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions import Session as AdkSession
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession


def session_name(session: AdkSession) -> str:
    """Return the name of the gate's session for a session of ADK: application, user and id."""
    return "/".join(quote(part, safe="") for part in (session.app_name, session.user_id, session.id))


class StopgatePlugin(BasePlugin):
    """Judges the tool calls of all agents of a runner.

    Each session of ADK has one of the gate, `session_name`; `session` is another one. Plugins after this one, and an
    agent's `before_tool_callback`, could change judged arguments: a runner that has them fails at the first call.
    """

    def __init__(self, gate: AsyncGate, *, session: AsyncSession | str | None = None, name: str = "stopgate") -> None:
        super().__init__(name=name)
        self._gate = gate
        self._session = session
        self._open: dict[tuple[str, str | None], AsyncOutcome | None] = {}  # by their ids; None while undecided, and if refused

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Judge the call. A dictionary is the model's answer instead of a run."""
        context = tool_context.get_invocation_context()
        if context.plugin_manager.plugins[-1] is not self:
            raise RuntimeError(f"stopgate: {tool.name} was not run: a plugin after stopgate could change it; register stopgate last")
        if getattr(context.agent, "canonical_before_tool_callbacks", None):
            raise RuntimeError(
                f"stopgate: {tool.name} was not run: before_tool_callback of {tool_context.agent_name!r} could change it; "
                "make it a plugin before stopgate"
            )
        key = tool_context.invocation_id, tool_context.function_call_id
        if key in self._open:  # the result of one would be reported for the other, and its own would not be judged
            raise RuntimeError(f"stopgate: {tool.name} was not run: the model gave another call the same id")
        self._open[key] = None
        session = self._session if self._session is not None else session_name(context.session)
        outcome = await self._gate.decide(tool.name, tool_args, session=session, agent=tool_context.agent_name, call_id=key[1])
        if not outcome.allowed:
            return {"result" if outcome.status == "skipped" else "error": outcome.model_text}
        args = outcome.args
        tool_args.clear()
        tool_args.update(args)
        self._open[key] = outcome
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Report the result; replace it where the result policy changed or withheld it."""
        return await self._report(tool_context, result, "result")

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Report the failure. The error goes its way unless the result policy withholds it."""
        if isinstance(error, Exception):
            return await self._report(tool_context, str(error), "error", failed=True)
        self._open.pop((tool_context.invocation_id, tool_context.function_call_id), None)  # asyncio.CancelledError
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """Fail if a result is on its way to the model that did not pass `after_tool_callback`."""
        for part in (part for content in llm_request.contents for part in content.parts or ()):
            response = part.function_response
            if response is not None and self._open.get((callback_context.invocation_id, response.id)) is not None:
                raise RuntimeError(f"stopgate: the result of {response.name} did not pass the gate: another plugin replaced it")
        return None

    async def _report(self, context: ToolContext, result: Any, key: str, failed: bool | None = None) -> dict[str, Any] | None:
        if (outcome := self._open.get((context.invocation_id, context.function_call_id))) is None:
            self._open.pop((context.invocation_id, context.function_call_id), None)
            return None
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
        delivery = await outcome.ran(text, failed=failed)
        del self._open[context.invocation_id, context.function_call_id]
        return {key: delivery.model_text} if delivery.changed or not delivery.delivered else None
