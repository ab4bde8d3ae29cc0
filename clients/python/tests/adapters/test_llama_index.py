"""LlamaIndex with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from driver import Driver, Run, cases_of
from examples import prints, shows
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import acall_tool
from llama_index.core.workflow import Context
from machine import POLICY, Machine
from script import DONE, Call, Script
from tools import Tools

import stopgate_client
from stopgate_client.adapters.llama_index import GuardedWorkflow, guard


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


def test_example() -> None:
    prints("shop_llama_index.py")
    shows("llama-index.md", "shop_llama_index.py")


def test_tools_outside_of_a_workflow(home: Machine) -> None:
    """LlamaIndex passes the only argument of a tool by position, and calls a tool that raised once more."""
    tools = Tools()

    async def run() -> list[str]:
        async with await stopgate_client.aio.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
            found = {tool.metadata.get_name(): tool for tool in guard(gate, tools.functions())}
            fetched = [(await acall_tool(found["fetch"], {"page": page})).content for page in ("public", "private")]
            refused = await acall_tool(found["delete_file"], {"path": "notes.txt"})
            assert refused.is_error
            with pytest.raises(TypeError, match="other parameters"):
                await found["fetch"].acall("public", page="private")
            with pytest.raises(NotImplementedError):
                found["fetch"]("public")
            return [*fetched, refused.content]

    public, private, refused = asyncio.run(run())
    assert public == "content of public" and "withheld" in private and "No file is deleted here" in refused
    assert tools.ran == [("fetch", {"page": "public"}), ("fetch", {"page": "private"})]


def test_tools_get_the_context_of_their_workflow(home: Machine) -> None:
    script, agents = Script([[Call("c1", "lookup", {"city": "Rome"})]]), []

    async def lookup(ctx: Context, city: str, days: int = 1) -> str:
        agents.append(await ctx.store.get("current_agent_name"))
        return city

    lookup.__annotations__["ctx"] = Context  # LlamaIndex does not evaluate annotations that are strings

    async def run() -> None:
        async with await stopgate_client.aio.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
            agent = FunctionAgent(name="clerk", tools=[lookup], llm=model(script), streaming=False)
            await GuardedWorkflow(gate=gate, agents=[agent]).run(user_msg="go")

    asyncio.run(run())
    assert agents == ["clerk"] and script.text_of("c1") == "Rome"
