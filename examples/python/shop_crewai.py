"""An agent of CrewAI whose tool calls the gate decides."""

from __future__ import annotations

import json
import os
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

import shop
import stopgate_client
from crewai import Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from stopgate_client.adapters.crewai import GuardedAgent


class Model(BaseLLM):
    """Plays the script, and then repeats what it read last."""

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        read = [message["content"] for message in messages if message["role"] == "tool"]
        if len(read) == len(shop.SCRIPT):
            return read[-1]
        name, arguments = shop.SCRIPT[len(read)]
        return [{"id": str(len(read)), "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]


MODEL = Model(model="script")


def main() -> None:
    gate = stopgate_client.local(policy=shop.POLICY, on_ask=shop.person)
    about = {"role": "shop", "goal": "help customers", "backstory": "A clerk.", "llm": MODEL}
    agent = GuardedAgent(gate=gate, tools=[tool(shop.read_order), tool(shop.refund)], **about)
    task = Task(description=shop.MESSAGE, expected_output="what was done", agent=agent)
    with gate.session(user_text=shop.MESSAGE):
        result = Crew(agents=[agent], tasks=[task]).kickoff()
    print("model:", result.raw)
    gate.close()


main()
