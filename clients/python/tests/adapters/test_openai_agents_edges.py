"""Tools of the OpenAI Agents SDK that reach an agent in other ways than its list of functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, RunConfig, Runner, WebSearchTool, function_tool, handoff, set_tracing_disabled
from agents.mcp import MCPServer
from driver import settings
from machine import Machine
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool
from script import DONE, Call, Script
from test_openai_agents import model_of
from tools import Tools

import stopgate_client
from stopgate_client import AsyncGate, StopgateError, Yes
from stopgate_client.adapters.openai_agents import guard

set_tracing_disabled(True)

DELETE = Call("c1", "delete_file", {"path": "notes.txt"})
REFUSED = "[stopgate] The tool call `delete_file` was not run: No file is deleted here (rule_matched)."


class Server(MCPServer):
    """An MCP server in this process with one tool, delete_file."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[Any] = []

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    @property
    def name(self) -> str:
        return "files"

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[MCPTool]:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        return [MCPTool(name="delete_file", description="Delete a file.", input_schema=schema)]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> CallToolResult:
        self.called.append(arguments)
        return CallToolResult(content=[TextContent(type="text", text="deleted")])

    async def list_prompts(self) -> Any: ...

    async def get_prompt(self, name: str, arguments: Any = None) -> Any: ...


def run(home: Machine, work: Callable[[AsyncGate], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with await stopgate_client.aio.local(**settings(home), **options) as gate:
            await work(gate)

    asyncio.run(main())


def delete_file(tools: Tools) -> Any:
    return next(function_tool(f) for f in tools.functions() if f.__name__ == "delete_file")


def test_tools_of_an_mcp_server_are_judged(home: Machine) -> None:
    script, server = Script([[DELETE]]), Server()

    async def work(gate: AsyncGate) -> None:
        await Runner.run(guard(gate, Agent(name="main", model=model_of(script), mcp_servers=[server])), "go")

    run(home, work)
    assert server.called == [] and script.text_of("c1") == REFUSED


@pytest.mark.parametrize("way", ["append", "clone"])
def test_a_tool_that_is_added_later_is_judged(home: Machine, way: str) -> None:
    script, tools = Script([[DELETE]]), Tools()

    async def work(gate: AsyncGate) -> None:
        agent = guard(gate, Agent(name="main", model=model_of(script)))
        if way == "append":
            agent.tools.append(delete_file(tools))
        else:
            agent = agent.clone(tools=[delete_file(tools)])
        await Runner.run(agent, "go")

    run(home, work)
    assert tools.ran == [] and script.text_of("c1") == REFUSED


def test_a_streamed_run_is_judged(home: Machine) -> None:
    script, tools = Script([[DELETE]]), Tools()

    async def work(gate: AsyncGate) -> None:
        result = Runner.run_streamed(guard(gate, Agent(name="main", model=model_of(script), tools=[delete_file(tools)])), "go")
        async for _ in result.stream_events():
            pass
        assert result.final_output == DONE

    run(home, work)
    assert tools.ran == [] and script.text_of("c1") == REFUSED


def test_an_approval_of_the_sdk_does_not_replace_the_gate(home: Machine) -> None:
    script, tools = Script([[DELETE]]), Tools()

    async def work(gate: AsyncGate) -> None:
        tool = delete_file(tools)
        tool.needs_approval = True
        agent = guard(gate, Agent(name="main", model=model_of(script), tools=[tool]))
        paused = await Runner.run(agent, "go")
        state = paused.to_state()
        state.approve(paused.interruptions[0])
        assert (await Runner.run(agent, state)).final_output == DONE

    run(home, work)
    assert tools.ran == [] and script.text_of("c1") == REFUSED


def test_a_tool_that_cannot_be_judged_is_refused(home: Machine) -> None:
    async def work(gate: AsyncGate) -> None:
        agent = Agent(name="main", tools=[WebSearchTool()])
        with pytest.raises(StopgateError, match="'web_search'.*cannot be judged"):
            guard(gate, agent)
        assert guard(gate, agent, unjudged={"web_search"}).tools == agent.tools

    run(home, work)


def test_agents_that_hand_over_to_each_other(home: Machine) -> None:
    script = Script([[Call("h1", "transfer_to_billing", {})], [Call("h2", "transfer_to_main", {})], [DELETE]])
    tools = Tools()

    async def work(gate: AsyncGate) -> None:
        model = model_of(script)
        billing = Agent(name="billing", model=model, tools=[delete_file(tools)])
        main = Agent(name="main", model=model, tools=[delete_file(tools)], handoffs=[handoff(billing)])
        billing.handoffs = [main]
        assert (await Runner.run(guard(gate, main), "go")).last_agent.name == "billing"

    run(home, work)
    assert "not run" not in script.text_of("h1")
    assert "`transfer_to_main` was not run" in script.text_of("h2")
    assert tools.ran == [] and script.text_of("c1") == REFUSED


@pytest.mark.parametrize("handled", [True, False])
def test_the_text_of_a_failure_can_be_withheld(home: Machine, handled: bool) -> None:
    script = Script([[Call("c1", "fetch", {"page": "private"})]])

    def fetch(page: str) -> str:
        raise RuntimeError(f"content of {page}")

    tool = function_tool(fetch) if handled else function_tool(fetch, failure_error_function=None)

    async def work(gate: AsyncGate) -> None:
        await Runner.run(guard(gate, Agent(name="main", model=model_of(script), tools=[tool])), "go", run_config=RunConfig())

    run(home, work)
    assert "withheld" in script.text_of("c1") and not any("content of private" in r for r in script.requests)


def test_an_approval_of_the_sdk_and_one_of_the_gate_are_both_needed(home: Machine) -> None:
    script, tools = Script([[Call("c1", "send_mail", {"to": "anna@example.com", "body": "hello"})]]), Tools()
    asked: list[str] = []

    def on_ask(question: Any) -> Yes:
        asked.append(question.tool)
        return Yes()

    async def work(gate: AsyncGate) -> None:
        tool = next(function_tool(f) for f in tools.functions() if f.__name__ == "send_mail")
        tool.needs_approval = True
        agent = guard(gate, Agent(name="main", model=model_of(script), tools=[tool]))
        paused = await Runner.run(agent, "go")
        assert asked == []
        state = paused.to_state()
        state.approve(paused.interruptions[0])
        await Runner.run(agent, state)

    run(home, work, on_ask=on_ask)
    assert asked == ["send_mail"] and len(tools.ran) == 1
