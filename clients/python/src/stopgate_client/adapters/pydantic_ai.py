"""Pydantic AI: every tool call of an agent goes through the gate.

    agent = Agent(model, tools=[...], capabilities=[Stopgate(gate)])
    result = await agent.run("...")

A refused call does not run: the model reads why as the call's failed result, and the run goes on. An allowed one runs
with the arguments that the gate released, and the result policy decides which part of its result the model reads.
If the gate fails, StopgateError ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import ApprovalRequired, CallDeferred, RunContext, ToolFailed
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession

from ._run import Report, Told, arun


@dataclass
class Stopgate(AbstractCapability[Any]):
    """Judges the calls of all tools that run in this program: functions, toolsets and MCP servers.

    Tools of the provider run there, unjudged. `session` is the session of the calls, by default the current one.
    """

    gate: AsyncGate
    session: AsyncSession | str | None = field(default=None, kw_only=True)

    def get_ordering(self) -> CapabilityOrdering:
        """Be the innermost capability, so that nothing changes what was judged."""
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Wrap the agent's tools."""
        return _Judged(toolset, self.gate, self.session)


@dataclass
class _Judged(WrapperToolset[Any]):
    gate: AsyncGate
    session: AsyncSession | str | None

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        async def call(outcome: AsyncOutcome) -> Any:
            args = tool.args_validator.validate_json(outcome.args_text, context=ctx.validation_context)
            return await self.wrapped.call_tool(name, args, ctx, tool)

        found = await arun(
            self.gate,
            name,
            to_jsonable_python(tool_args, by_alias=True, round_trip=True),
            call,
            _REPORT,
            passes=(CallDeferred, ApprovalRequired),
            session=self.session,
            agent=ctx.agent.name if ctx.agent else None,
            turn=f"{ctx.run_id}/{ctx.run_step}",
            call_id=ctx.tool_call_id,
            definition={"description": tool.tool_def.description or "", "parameters": tool.tool_def.parameters_json_schema},
        )
        if isinstance(found, Told) and found.status == "denied":
            raise ToolFailed(found.text)
        return found.text if isinstance(found, Told) else found


_REPORT: Report[Any] = Report(lambda result: to_jsonable_python(result, fallback=str))
