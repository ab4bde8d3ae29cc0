"""CrewAI: an Agent whose tool calls all go through the gate, in every mode in which CrewAI runs agents.

    clerk = GuardedAgent(gate=gate, role="clerk", goal="...", backstory="...", tools=[...])
    Crew(agents=[clerk], tasks=[...]).kickoff()

It covers its own tools and those that CrewAI adds: delegation, MCP, platform, memory and skills. A refused call does
not run: the model reads why as the tool's result, and the run goes on. If the gate fails, the model reads the error.

CrewAI's hooks before tool calls are no place for a gate: CrewAI runs the tool if one of them raises, hooks that run
later can change judged arguments, and a call that failed runs again without them.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from crewai import Agent, Task
from crewai.tools import BaseTool
from crewai.utilities.string_utils import sanitize_tool_name
from pydantic import ConfigDict, FieldSerializationInfo, field_serializer
from pydantic_core import to_jsonable_python

from stopgate_client import Gate, Session

from ._run import Report, Told, run

Agent._add_skill_loader_tool  # noqa: B018  # the method through which all tools pass: a CrewAI without it cannot be guarded


class GuardedAgent(Agent):
    """An Agent with the gate before every tool.

    `session` is the session of the calls, by default the current one. The agent's name in rules is its role.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    gate: Gate
    session: Session | str | None = None

    @field_serializer("gate", "session")
    def _kept(self, value: Any, info: FieldSerializationInfo) -> Any:
        """Keep the gate in copies of the agent. JSON has none, so that an agent from a checkpoint needs one again."""
        return None if info.mode == "json" else value

    def _add_skill_loader_tool(self, tools: list[BaseTool], task: Task | None = None) -> list[BaseTool]:
        found = super()._add_skill_loader_tool(tools, task=task)
        return [tool if isinstance(tool, _Guarded) else _Guarded.of(tool, self) for tool in found]

    def create_agent_executor(self, tools: list[BaseTool] | None = None, task: Task | None = None) -> None:
        """Create the executor. Raises RuntimeError if one of its tools is not guarded."""
        super().create_agent_executor(tools, task)
        for tool in getattr(self.agent_executor, "original_tools", ()):
            if not isinstance(tool, _Guarded):
                raise RuntimeError(f"the tool {tool.name} is not guarded: this version of CrewAI is not supported")


class _Guarded(BaseTool):
    """A tool with the gate before it. CrewAI keeps no result of it for later calls: each one is judged."""

    tool: BaseTool
    owner: GuardedAgent

    @classmethod
    def of(cls, tool: BaseTool, owner: GuardedAgent) -> _Guarded:
        """Return the tool with the gate of its owner before it."""
        members = {name: getattr(tool, name) for name in ("name", "description", "args_schema", "result_as_answer")}
        return cls(tool=tool, owner=owner, cache_function=lambda *_: False, **members)

    def _run(self, **kwargs: Any) -> Any:
        definition = {"description": self.tool.description, "parameters": self.args_schema.model_json_schema()}
        facts: dict[str, Any] = {"session": self.owner.session, "agent": self.owner.role, "definition": definition}
        found = run(
            self.owner.gate, sanitize_tool_name(self.name), to_jsonable_python(kwargs), lambda o: self.tool.run(**o.args), _REPORT, **facts
        )
        if not isinstance(found, Told):
            return found
        if self.result_as_answer and not found.ran:
            raise PermissionError(found.text)  # a refusal is no answer of the agent
        return found.text

    async def _arun(self, **kwargs: Any) -> Any:
        return await asyncio.to_thread(self._run, **kwargs)


def _data(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(to_jsonable_python(result, fallback=str), ensure_ascii=False)


_REPORT: Report[Any] = Report(_data)
