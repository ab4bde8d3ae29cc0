"""CrewAI with a scripted model."""

from __future__ import annotations

import json
from typing import Any

from crewai import Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from driver import Driver, Run, cases_of
from script import DONE, Script

from stopgate_client.adapters.crewai import GuardedAgent


class Scripted(BaseLLM):
    """Plays a script, with tool calls as the API of OpenAI has them."""

    llm_type: str = "scripted"
    script: Any

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        script: Script = self.script
        script.request(json.dumps(messages, ensure_ascii=False, default=str))
        for message in messages:
            if message["role"] == "tool":
                script.read(message["tool_call_id"], message["content"])
        calls = script.next()
        return [{"id": c.id, "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.args)}} for c in calls] or DONE


class CrewAi(Driver):
    host, title, package, sync = "crewai", "CrewAI", "crewai", True
    unable = {"handoff": "coworkers return, control stays"}

    def run(self, run: Run) -> None:
        agent = GuardedAgent(
            gate=run.gate,
            session=run.session,
            role=run.agents[0],
            goal="help",
            backstory="a clerk",
            llm=Scripted(model="scripted", script=run.script),
            tools=[tool(function) for function in run.functions],
        )
        task = Task(description=run.prompt, expected_output="a text", agent=agent)
        Crew(agents=[agent], tasks=[task]).kickoff()


test_case = cases_of(CrewAi())
