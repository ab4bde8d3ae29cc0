"""Results of Claude Code's tools with another text.

Claude Code shows the original result to the model if a hook's result has another structure.
"""

from __future__ import annotations

import re
from typing import Any

_TEXTS = frozenset({"stdout", "content", "text", "output", "result", "message"})
_KINDS = frozenset({"type", "mode", "status", "kind"})


def same_shape(tool: str, result: Any, text: str) -> Any:
    """Return a result of the same structure that contains the text and nothing else of the original."""
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
