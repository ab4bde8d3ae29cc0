"""Pydantic AI, with its FunctionModel."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from driver import Driver, Run, cases_of
from examples import prints, shows
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from script import DONE, Script

from stopgate_client.adapters.pydantic_ai import Stopgate


def model_of(script: Script) -> FunctionModel:
    def respond(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        script.request(ModelMessagesTypeAdapter.dump_json(messages).decode())
        for part in (part for m in messages for part in m.parts):
            if isinstance(part, ToolReturnPart):
                script.read(part.tool_call_id, part.model_response_str(wrap_if_error=False), part.outcome != "success")
        calls: list[Any] = [ToolCallPart(c.tool, dict(c.args), tool_call_id=c.id) for c in script.next()]
        return ModelResponse(calls or [TextPart(DONE)])

    return FunctionModel(respond)


class PydanticAI(Driver):
    host, title, package = "pydantic_ai", "Pydantic AI", "pydantic-ai-slim"
    unable = {"handoff": "no handoffs"}

    async def run(self, run: Run) -> None:
        agent = Agent(model_of(run.script), name=run.agents[0], tools=list(run.functions), capabilities=[Stopgate(run.gate, session=run.session)])
        result = await agent.run(run.prompt)
        assert result.output == DONE


test_case = cases_of(PydanticAI())


def test_example() -> None:
    prints("shop_pydantic_ai.py")
    shows("pydantic-ai.md", "shop_pydantic_ai.py")
