"""A client of an MCP server whose tool calls the gate decides. The script is in the place of an agent."""

from __future__ import annotations

import asyncio
import os
import sys

import shop
import stopgate_client
from mcp import StdioServerParameters, stdio_client
from mcp.server import MCPServer
from stopgate_client.adapters.mcp import GuardedSession

SERVER = StdioServerParameters(command=sys.executable, args=[__file__, "serve"], env=dict(os.environ))


async def main() -> None:
    gate = await stopgate_client.aio.local(policy=shop.POLICY, on_ask=shop.person)
    session = await gate.session(user_text=shop.MESSAGE)
    async with stdio_client(SERVER) as (read, write), GuardedSession(read, write, gate=gate, session=session) as client:
        await client.initialize()
        await client.list_tools()

        for tool, arguments in shop.SCRIPT:
            result = await client.call_tool(tool, arguments)
            if not result.is_error:
                print("ran:", tool, *arguments.values())
    print("model:", result.content[0].text)
    await gate.close()


def serve() -> None:
    """Be the server of the shop. Its standard output is the protocol, so that its tools print nothing."""
    server = MCPServer("shop")

    @server.tool()
    def read_order(order: str) -> str:
        return f"order {order}: a lamp for 900"

    @server.tool()
    def refund(order: str, amount: int) -> str:
        return f"refunded {amount}"

    server.run("stdio")


serve() if sys.argv[1:] == ["serve"] else asyncio.run(main())
