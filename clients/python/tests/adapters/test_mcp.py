"""GuardedSession with a real MCP server in this process. A loop plays the agent: MCP itself has no model."""

from __future__ import annotations

import asyncio
from typing import Any

from driver import Driver, Run, cases_of
from mcp.client._memory import InMemoryTransport
from mcp.server import MCPServer
from mcp.types import TextContent

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


def result_of(result: Any) -> str:
    """Return the text of a result of one text."""
    (item,) = result.content
    assert isinstance(item, TextContent)
    return item.text
