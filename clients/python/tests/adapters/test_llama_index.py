"""LlamaIndex with a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driver import Driver, Run, cases_of
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from script import DONE, Call, Script

from stopgate_client.adapters.llama_index import GuardedWorkflow


def model(script: Script) -> MockFunctionCallingLLM:
    """Return a model that plays a script. A call of transfer_to_NAME is one of LlamaIndex' tool handoff."""

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        script.request("\n".join(message.model_dump_json() for message in messages))
        for message in messages:
            if message.role == "tool":
                script.read(message.additional_kwargs["tool_call_id"], message.content or "")
        calls = [_call(call) for call in script.next()]
        return ChatMessage(role="assistant", blocks=calls) if calls else ChatMessage(role="assistant", content=DONE)

    return MockFunctionCallingLLM(response_generator=answer)


def _call(call: Call) -> ToolCallBlock:
    if call.tool.startswith("transfer_to_"):
        to = call.tool.removeprefix("transfer_to_")
        return ToolCallBlock(tool_call_id=call.id, tool_name="handoff", tool_kwargs={"to_agent": to, "reason": "asked"})
    return ToolCallBlock(tool_call_id=call.id, tool_name=call.tool, tool_kwargs=dict(call.args))


class LlamaIndex(Driver):
    host, title, package = "llama_index", "LlamaIndex", "llama-index-core"

    async def run(self, run: Run) -> None:
        tools = [FunctionTool.from_defaults(function) for function in run.functions]
        agents = [FunctionAgent(name=name, description=name, tools=tools, llm=model(run.script), streaming=False) for name in run.agents]
        workflow = GuardedWorkflow(gate=run.gate, session=run.session, agents=agents, root_agent=run.agents[0])
        await workflow.run(user_msg=run.prompt)


test_case = cases_of(LlamaIndex())
