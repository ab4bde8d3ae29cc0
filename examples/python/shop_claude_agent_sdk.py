"""An agent of the Claude Agent SDK whose tool calls the gate decides. It needs a key, or a server in ANTHROPIC_BASE_URL."""

from __future__ import annotations

import asyncio
from typing import Any

import shop
import stopgate_client
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool
from stopgate_client.adapters.claude_agent_sdk import guard


def text(result: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": result}]}


@tool("read_order", "Read an order.", {"order": str})
async def read_order(args: dict[str, Any]) -> dict[str, Any]:
    return text(shop.read_order(args["order"]))


@tool("refund", "Refund an order.", {"order": str, "amount": int})
async def refund(args: dict[str, Any]) -> dict[str, Any]:
    return text(shop.refund(args["order"], args["amount"]))


SERVER = create_sdk_mcp_server("shop", tools=[read_order, refund])
OPTIONS = ClaudeAgentOptions(mcp_servers={"shop": SERVER}, tools=[], setting_sources=[], system_prompt="You work for a shop.")


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    session = await gate.session(user_text=shop.MESSAGE)
    options = guard(gate, OPTIONS, session=session, own={"shop"})
    async for message in query(prompt=shop.MESSAGE, options=options):
        if isinstance(message, ResultMessage):
            print("model:", message.result)
    await gate.close()


asyncio.run(main())
