"""An agent of Microsoft Agent Framework whose tool calls the gate decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import shop
import stopgate_client
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message
from stopgate_client.adapters.agent_framework import Stopgate


class Model(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Plays the script, and then repeats what it read last."""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse[Any]]:
        async def answer() -> ChatResponse[Any]:
            contents = [content for message in messages for content in message.contents]
            read = [str(content.result) for content in contents if content.type == "function_result"]
            if len(read) == len(shop.SCRIPT):
                return ChatResponse(messages=[Message(role="assistant", contents=[read[-1]])])
            name, args = shop.SCRIPT[len(read)]
            call = Content.from_function_call(call_id=str(len(read)), name=name, arguments=args)
            return ChatResponse(messages=[Message(role="assistant", contents=[call])])

        return answer()


MODEL = Model()


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    agent = Agent(MODEL, name="shop", tools=[shop.read_order, shop.refund], middleware=[Stopgate(gate, agent="shop")])
    async with gate.session(user_text=shop.MESSAGE):
        result = await agent.run(shop.MESSAGE)
    print("model:", result.text)
    await gate.close()


asyncio.run(main())
