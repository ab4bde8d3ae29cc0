"""LlamaIndex agents: every tool call of a workflow of agents goes through the gate, handoffs too.

    workflow = GuardedWorkflow(gate=gate, agents=[FunctionAgent(...), ...], root_agent="clerk")
    agent = FunctionAgent(tools=guard(gate, [...]), llm=llm)                    # an agent that runs by itself

A refused call does not run: the model reads why as the tool's output, and the run goes on. If the gate fails, the
tool does not run, or its result is lost, and the model reads the error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.tools import AsyncBaseTool, BaseTool, FunctionTool, ToolOutput, adapt_to_async_tool
from workflows.runtime.types.results import WaitingForEvent

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession

from ._run import Report, Told, arun

_CONTEXT = "stopgate_workflow_context"  # the argument in which workflows pass their context
_REPORT: Report[ToolOutput] = Report(
    lambda out: out.content if all(b.block_type == "text" for b in out.blocks) else json.dumps([b.model_dump(mode="json") for b in out.blocks]),
    lambda out: out.is_error or None,
)


class GuardedWorkflow(AgentWorkflow):
    """An AgentWorkflow that guards every tool that its agents get: their own, retrieved ones and `handoff`."""

    def __init__(self, *args: Any, gate: AsyncGate, session: AsyncSession | str | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._gate, self._gate_session = gate, session

    async def get_tools(self, agent_name: str, input_str: str | None = None) -> list[AsyncBaseTool]:
        """Return the agent's tools, guarded."""
        return guard(self._gate, await super().get_tools(agent_name, input_str), session=self._gate_session)


def guard(
    gate: AsyncGate,
    tools: Iterable[BaseTool | Callable[..., Any]],
    *,
    session: AsyncSession | str | None = None,
    agent: str | None = None,
) -> list[AsyncBaseTool]:
    """Return the tools with the gate before each.

    `session` is the session of the calls, by default the current one. `agent` is the agent that makes them, if no
    workflow of several agents knows better.
    """
    found = [tool if isinstance(tool, BaseTool) else FunctionTool.from_defaults(tool) for tool in tools]
    return [tool if isinstance(tool, _Guarded) else _Guarded(gate, adapt_to_async_tool(tool), session, agent) for tool in found]


class _Guarded(FunctionTool):
    """A tool with the gate before it. It is a FunctionTool, because only those get the workflow's context."""

    def __init__(self, gate: AsyncGate, tool: AsyncBaseTool, session: AsyncSession | str | None, agent: str | None) -> None:
        super().__init__(async_fn=self.acall, metadata=tool.metadata)
        self.requires_context, self.ctx_param_name = True, _CONTEXT
        self._gate, self._tool, self._agent, self._gate_session = gate, tool, agent, session

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Judge a call, run it if it is allowed, and report its result."""
        context = kwargs.pop(_CONTEXT, None)
        name, parameters = self.metadata.get_name(), self.metadata.get_parameters_dict()
        proposed = dict(zip(parameters["properties"], args, strict=False)) | kwargs
        if len(proposed) != len(args) + len(kwargs):
            raise TypeError(f"{name} was not run: it has other parameters than the call")
        agent = self._agent if context is None else await context.store.get("current_agent_name", default=self._agent)

        async def call(outcome: AsyncOutcome) -> ToolOutput:
            runtime = {}
            if isinstance(self._tool, FunctionTool) and self._tool.ctx_param_name is not None:
                runtime[self._tool.ctx_param_name] = context
            return await self._tool.acall(**outcome.args | runtime)

        definition = {"description": self.metadata.description, "parameters": parameters}
        facts = {"session": self._gate_session, "agent": agent, "definition": definition}
        found = await arun(self._gate, name, proposed, call, _REPORT, passes=(WaitingForEvent,), **facts)
        if not isinstance(found, Told):
            return found
        return ToolOutput(tool_name=name, content=found.text, raw_input=proposed, raw_output=found.text, is_error=found.status == "denied")

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        """Raise NotImplementedError: the gate is asynchronous."""
        raise NotImplementedError("a guarded tool runs in asyncio: use acall")

    __call__ = call
