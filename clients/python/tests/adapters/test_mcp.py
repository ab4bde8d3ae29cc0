"""GuardedSession with a real MCP server in this process. A loop plays the agent: MCP itself has no model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver")

from driver import Driver, Run, cases_of
from examples import prints, shows
from machine import POLICY, Machine
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from mcp.types import TextContent

import stopgate_client
from stopgate_client.adapters.mcp import GuardedSession


class Mcp(Driver):
    host, title, package = "mcp", "MCP clients", "mcp"
    unable = {"handoff": "MCP has no agents"}

    async def run(self, run: Run) -> None:
        server = MCPServer("tools")
        for function in run.functions:
            server.add_tool(function)
        async with (
            InMemoryTransport(server, raise_exceptions=True) as (read, write),
            GuardedSession(read, write, gate=run.gate, session=run.session) as session,
        ):
            await session.initialize()
            await session.list_tools()
            while calls := run.script.next():
                results = await asyncio.gather(*(session.call_tool(c.tool, dict(c.args), call_id=c.id) for c in calls))
                for call, result in zip(calls, results, strict=True):
                    text = "".join(item.text for item in result.content if isinstance(item, TextContent))
                    run.script.read(call.id, text, result.is_error)
                    run.script.request(result.model_dump_json())


test_case = cases_of(Mcp())


def test_example() -> None:
    prints("shop_mcp.py")
    shows("mcp.md", "shop_mcp.py")


def test_a_withheld_result_loses_its_structured_content(home: Machine) -> None:
    async def call() -> Any:
        server = MCPServer("tools")
        server.add_tool(fetch)
        async with (
            await stopgate_client.aio.local(policy=POLICY, project=home.project, binary=home.binary) as gate,
            InMemoryTransport(server) as (read, write),
            GuardedSession(read, write, gate=gate) as session,
        ):
            await session.initialize()
            return [await session.call_tool("fetch", {"page": page}) for page in ("public", "private")]

    def fetch(page: str) -> dict[str, str]:
        return {"secret": f"content of {page}"}

    public, private = asyncio.run(call())
    assert public.structured_content == {"secret": "content of public"}
    assert private.structured_content is None and "content of" not in private.model_dump_json()
