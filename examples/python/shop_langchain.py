"""An agent of LangChain whose tool calls the gate decides."""

from __future__ import annotations

from typing import Any

import shop
import stopgate_client
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from stopgate_client.adapters.langchain import Stopgate


class Model(GenericFakeChatModel):
    """Plays the script, and then repeats what it read last."""

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        played = sum(isinstance(m, ToolMessage) for m in messages)
        if played < len(shop.SCRIPT):
            return super()._generate(messages, *args, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(messages[-1].text))])


MODEL = Model(messages=iter(AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(i)}]) for i, (name, args) in enumerate(shop.SCRIPT)))


def main() -> None:
    gate = stopgate_client.local(policy=shop.POLICY, on_ask=shop.person)
    agent = create_agent(MODEL, [shop.read_order, shop.refund], middleware=[Stopgate(gate)])
    with gate.session(user_text=shop.MESSAGE):
        result = agent.invoke({"messages": [("user", shop.MESSAGE)]})
    print("model:", result["messages"][-1].text)
    gate.close()


main()
