"""The forms of Claude Code: names of tools, answers of hooks, and results with another text."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

_TEXTS = frozenset({"stdout", "content", "text", "output", "result", "message"})
_KINDS = frozenset({"type", "mode", "status", "kind"})


def named(event: dict[str, Any], own: Collection[str]) -> tuple[str, str | None]:
    """Return the name of an event's tool in rules, and its server; a tool of a server in `own` has its plain name."""
    tool, of = event["tool_name"], event.get("mcp_server") or {}
    if not tool.startswith("mcp__"):
        return tool, None
    server = of.get("name") or tool.removeprefix("mcp__").partition("__")[0]
    name = tool.removeprefix(f"mcp__{server}__")
    return (name, None) if server in own and of.get("source") == "sdk" else (f"{server}__{name}", server)


def decision(event: dict[str, Any], word: str, reason: str, **members: Any) -> dict[str, Any]:
    """Return the answer to an event before a call: allow or deny."""
    specific = {"hookEventName": event["hook_event_name"], "permissionDecision": word, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": specific | members}


def replaced(event: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the answer to an event after a call that replaces its result by a text."""
    output = same_shape(event["tool_name"], event["tool_response"], text)
    specific = {"hookEventName": "PostToolUse", "updatedToolOutput": output, "updatedMCPToolOutput": output}
    return {"decision": "block", "reason": text, "hookSpecificOutput": specific}


def same_shape(tool: str, result: Any, text: str) -> Any:
    """Return a result of the same structure with the text, and no other text of the original.

    Claude Code shows the original result to the model if a hook's result has another structure.
    """
    if tool == "Read" and isinstance(result, dict):  # of images, too
        return {"type": "text", "file": {"filePath": "", "content": text, "numLines": 1, "startLine": 1, "totalLines": 1}}
    if isinstance(result, list):  # content of an MCP result
        return [{"type": "text", "text": text}]
    return _emptied("", result, text) if isinstance(result, dict) else text


def _emptied(name: str, value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {key: _emptied(key, member, text) for key, member in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, str):
        if name in _TEXTS:
            return text
        return value if name in _KINDS and re.fullmatch("[a-z_-]{0,29}", value) else ""
    return value
