"""MCP clients of the official Python SDK: a ClientSession whose tool calls go through the gate.

    async with GuardedSession(read, write, gate=gate, server="files") as session:
        await session.initialize()
        result = await session.call_tool("read_file", {"path": "README.md"})

The server sees nothing of a refused call, whose result has the reason. If the gate fails, `call_tool` raises
StopgateError. The session fits wherever the SDK takes one, such as `ClientSessionGroup.connect_with_session`.
"""

from __future__ import annotations

import json
from typing import Any

from mcp import ClientSession
from mcp.types import CallToolResult, ListToolsResult, TextContent

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession

from ._run import Report, Told, arun


class GuardedSession(ClientSession):
    """Sends a server the arguments that the gate released, and returns of results what the result policy delivers.

    `session` is the session of the calls, by default the current one. `server` is the server's name in the policy:
    the program chooses it, a server's own name proves nothing. `agent` is the agent that makes the calls.
    Resources and prompts are read as with any ClientSession.
    """

    def __init__(
        self,
        *args: Any,
        gate: AsyncGate,
        session: AsyncSession | str | None = None,
        server: str | None = None,
        agent: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._gate = gate
        self._facts: dict[str, Any] = {"session": session, "server": server, "agent": agent}
        self._definitions: dict[str, dict[str, Any]] = {}

    async def list_tools(self, **options: Any) -> ListToolsResult:
        """List the tools. Calls of them have the server's definition for the gate."""
        listed = await super().list_tools(**options)
        for tool in listed.tools:
            self._definitions[tool.name] = {"description": tool.description or "", "parameters": tool.input_schema}
        return listed

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *args: Any, call_id: str | None = None, **options: Any
    ) -> Any:
        """Judge a call, send it if it is allowed, and report its result. `call_id` is the id that the model gave it.

        A call that the server answers with a request for input is judged again when it is sent with the input.
        """
        proceed = super().call_tool

        async def call(outcome: AsyncOutcome) -> Any:
            return await proceed(name, outcome.args, *args, **options)

        facts: dict[str, Any] = {"call_id": call_id, "definition": self._definitions.get(name)}
        found = await arun(self._gate, name, arguments or {}, call, _REPORT, **self._facts, **facts)
        if isinstance(found, Told):
            return CallToolResult(content=[TextContent(type="text", text=found.text)], is_error=found.status == "denied")
        return found


def _data(result: Any) -> str:
    """Return the texts of a result, or all of it as JSON if it has more than texts."""
    content = result.content if isinstance(result, CallToolResult) else ()
    texts = [item.text for item in content if isinstance(item, TextContent)]
    if texts and len(texts) == len(content) and result.structured_content is None:
        return "\n".join(texts)
    return json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)


_REPORT: Report[Any] = Report(_data, lambda result: getattr(result, "is_error", None))
