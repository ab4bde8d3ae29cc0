"""An agent of LlamaIndex whose tool calls the gate decides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import shop
import stopgate_client
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from stopgate_client.adapters.llama_index import GuardedWorkflow


def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """Play the script, and then repeat what was read last."""
    read = [message.content for message in messages if message.role == "tool"]
    if len(read) == len(shop.SCRIPT):
        return ChatMessage(role="assistant", content=read[-1])
    name, args = shop.SCRIPT[len(read)]
    return ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id=str(len(read)), tool_name=name, tool_kwargs=args)])


MODEL = MockFunctionCallingLLM(response_generator=answer)


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    agent = FunctionAgent(name="shop", llm=MODEL, tools=[shop.read_order, shop.refund], streaming=False)
    async with gate.session(user_text=shop.MESSAGE) as session:
        result = await GuardedWorkflow(gate=gate, session=session, agents=[agent]).run(user_msg=shop.MESSAGE)
    print("model:", result)
    await gate.close()


asyncio.run(main())
