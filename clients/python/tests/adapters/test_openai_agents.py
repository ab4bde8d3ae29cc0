"""The OpenAI Agents SDK, with the scripted model of its own testing package."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from driver import Driver, Run, cases_of
from examples import prints, shows
from script import DONE, Script

from stopgate_client.adapters.openai_agents import guard

set_tracing_disabled(True)


def model_of(script: Script) -> ScriptedModel:
    def respond(call: Any) -> Any:
        script.request(json.dumps(call.input, ensure_ascii=False, default=str))
        for item in call.input if isinstance(call.input, list) else ():
            if item.get("type") == "function_call_output":
                script.read(item["call_id"], item["output"])
        calls = [function_call(c.tool, dict(c.args), call_id=c.id) for c in script.next()]
        return calls or [assistant_message(DONE)]

    return ScriptedModel([ModelStep.respond(respond)] * (len(script.turns) + 1))


class OpenAIAgents(Driver):
    host, title, package = "openai_agents", "OpenAI Agents SDK", "openai-agents"

    async def run(self, run: Run) -> None:
        model = model_of(run.script)
        first, *others = (Agent(name=name, model=model, tools=[function_tool(f) for f in run.functions]) for name in run.agents)
        first.handoffs = others
        result = await Runner.run(guard(run.gate, first, session=run.session), run.prompt)
        assert result.final_output == DONE


test_case = cases_of(OpenAIAgents())


def test_example() -> None:
    prints("shop_openai_agents.py")
    shows("openai-agents.md", "shop_openai_agents.py")
