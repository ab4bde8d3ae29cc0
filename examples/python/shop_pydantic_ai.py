"""An agent of Pydantic AI whose tool calls the gate decides."""

from __future__ import annotations

import asyncio

import shop
import stopgate_client
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from stopgate_client.adapters.pydantic_ai import Stopgate


def play(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Play the script, and then repeat what was read last."""
    results = [part for m in messages for part in m.parts if isinstance(part, ToolReturnPart)]
    if len(results) < len(shop.SCRIPT):
        name, args = shop.SCRIPT[len(results)]
        return ModelResponse([ToolCallPart(name, args)])
    return ModelResponse([TextPart(str(results[-1].content))])


MODEL = FunctionModel(play)


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    agent = Agent(MODEL, tools=[shop.read_order, shop.refund], capabilities=[Stopgate(gate)])
    async with gate.session(user_text=shop.MESSAGE):
        result = await agent.run(shop.MESSAGE)
    print("model:", result.output)
    await gate.close()


asyncio.run(main())
