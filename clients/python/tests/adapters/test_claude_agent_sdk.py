"""The Claude Agent SDK with the claude program that it brings, against a scripted server of Anthropic's API."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, SdkMcpTool, create_sdk_mcp_server, query, tool
from driver import Driver, Run, cases_of
from examples import ORDERS, REFUSED, prints, shows
from provider import provider
from script import DONE, Call, Script

from stopgate_client.adapters.claude_agent_sdk import guard

PREFIX = "mcp__own__"
QUIET = {
    "ANTHROPIC_API_KEY": "sk-test",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",
}
TYPES = {"str": "string", "int": "integer"}


def tool_of(function: Callable[..., str]) -> SdkMcpTool[Any]:
    parameters = inspect.signature(function).parameters.values()
    schema = {
        "type": "object",
        "properties": {p.name: {"type": TYPES[p.annotation]} for p in parameters},
        "required": [p.name for p in parameters if p.default is p.empty],
    }

    @tool(function.__name__, inspect.getdoc(function) or "", schema)
    async def run(args: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": function(**args)}]}

    return run


class ClaudeAgentSDK(Driver):
    host, title, package = "claude_agent_sdk", "Claude Agent SDK", "claude-agent-sdk"
    unable = {"skip": "host marks it as an error", "handoff": "sub-agents, no handoffs"}

    async def run(self, run: Run) -> None:
        with provider(run.script, prefix=PREFIX) as url:
            server = create_sdk_mcp_server("own", tools=[tool_of(f) for f in run.functions])
            options = ClaudeAgentOptions(
                mcp_servers={"own": server}, tools=[], setting_sources=[], system_prompt="Play the script.", env=QUIET | {"ANTHROPIC_BASE_URL": url}
            )
            last: Any = None
            async for last in query(prompt=run.prompt, options=guard(run.gate, options, session=run.session, own={"own"})):
                pass
            assert isinstance(last, ResultMessage) and last.result == DONE


test_case = cases_of(ClaudeAgentSDK())


def test_example() -> None:
    script = Script([[Call(f"c{i}", name, args)] for i, (name, args) in enumerate(ORDERS)])
    with provider(script, prefix="mcp__shop__") as url:
        prints("shop_claude_agent_sdk.py", last=f"model: {DONE}\n", env=QUIET | {"ANTHROPIC_BASE_URL": url})
    assert REFUSED.strip() in script.text_of("c3")
    shows("claude-agent-sdk.md", "shop_claude_agent_sdk.py")
