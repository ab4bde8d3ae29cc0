"""An agent of the OpenAI Agents SDK whose tool calls the gate decides."""

from __future__ import annotations

import asyncio
from typing import Any

import shop
import stopgate_client
from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from stopgate_client.adapters.openai_agents import guard

set_tracing_disabled(True)


def last_words(call: Any) -> list[Any]:
    return [assistant_message(call.input[-1]["output"])]


CALLS = [[function_call(name, args, call_id=f"call_{i}")] for i, (name, args) in enumerate(shop.SCRIPT)]
MODEL = ScriptedModel([*CALLS, ModelStep.respond(last_words)])


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    agent = guard(gate, Agent(name="shop", model=MODEL, tools=[function_tool(shop.read_order), function_tool(shop.refund)]))
    async with gate.session(user_text=shop.MESSAGE):
        result = await Runner.run(agent, shop.MESSAGE)
    print("model:", result.final_output)
    await gate.close()


asyncio.run(main())
