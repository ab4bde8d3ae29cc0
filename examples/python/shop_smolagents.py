"""An agent of smolagents whose tool calls the gate decides."""

from __future__ import annotations

from typing import Any

import shop
import stopgate_client
from smolagents import ChatMessage, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from stopgate_client.adapters.smolagents import guard


class Script(Model):
    """Plays the script, and then repeats what it read last."""

    def generate(self, messages: list[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        read = [m.content[0]["text"] for m in messages if m.role == MessageRole.TOOL_RESPONSE and isinstance(m.content, list)]
        if len(read) == len(shop.SCRIPT):
            name, arguments = "final_answer", {"answer": read[-1].removeprefix("Observation:\n")}
        else:
            name, arguments = shop.SCRIPT[len(read)]
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        return ChatMessage(role=MessageRole.ASSISTANT, tool_calls=[ChatMessageToolCall(function, id=str(len(read)), type="function")])


MODEL = Script()


def main() -> None:
    gate = stopgate_client.local(policy=shop.POLICY, on_ask=shop.person)
    agent = guard(gate, ToolCallingAgent([tool(shop.read_order), tool(shop.refund)], MODEL, verbosity_level=0))
    with gate.session(user_text=shop.MESSAGE):
        result = agent.run(shop.MESSAGE)
    print("model:", result)
    gate.close()


main()
