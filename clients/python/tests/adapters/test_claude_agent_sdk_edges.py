"""Tools of Claude Code itself, permission modes, skips and other hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, query
from driver import settings
from machine import Machine
from provider import provider
from script import Call, Script
from test_claude_agent_sdk import QUIET, tool_of
from tools import Tools

import stopgate_client
from stopgate_client import AsyncGate, BadArguments
from stopgate_client.adapters._claude import same_shape
from stopgate_client.adapters.claude_agent_sdk import guard

BASH = """
version = 1
[tools.Bash]
parameters = { command = { type = "string", required = true }, description = { type = "string" } }
[tools.Bash.policy]
run = [
  { arg = "/command", prefix = "touch", mode = "deny", reason = "Nothing is touched." },
  { arg = "/command", pattern = "^cat (open|secret)(; exit 3)?$", mode = "unattended", ignores = ["/description"] },
]
result = [{ arg = "/command", pattern = "secret", mode = "skip" }, { mode = "unattended" }]
"""


def run(home: Machine, work: Callable[[AsyncGate], Awaitable[None]], policy: str | None = None) -> None:
    async def main() -> None:
        async with await stopgate_client.aio.local(**settings(home, policy)) as gate:
            await work(gate)

    asyncio.run(main())


async def ask(gate: AsyncGate, script: Script, prefix: str = "", own: frozenset[str] = frozenset(), **options: Any) -> None:
    with provider(script, prefix=prefix) as url:
        settings = ClaudeAgentOptions(setting_sources=[], system_prompt="Play.", env=QUIET | {"ANTHROPIC_BASE_URL": url}, **options)
        async for _ in query(prompt="go", options=guard(gate, settings, own=own)):
            pass


def bash(call_id: str, command: str) -> list[Call]:
    return [Call(call_id, "Bash", {"command": command, "description": "test"})]


def test_own_tools_of_claude_code_are_judged_in_every_permission_mode(home: Machine) -> None:
    (home.project / "secret").write_text("the text of the secret")
    (home.project / "open").write_text("an open text")
    script = Script([bash("c1", "touch made"), bash("c2", "cat open"), bash("c3", "cat secret")])
    run(home, lambda gate: ask(gate, script, tools=["Bash"], permission_mode="bypassPermissions", cwd=home.project), BASH)
    assert "Nothing is touched" in script.text_of("c1") and not (home.project / "made").exists()
    assert "an open text" in script.text_of("c2")
    assert "withheld" in script.text_of("c3") and not any("the text of the secret" in r for r in script.requests)


def test_the_run_ends_where_the_text_of_a_failed_call_is_withheld(home: Machine) -> None:
    (home.project / "secret").write_text("the text of the secret")
    (home.project / "open").write_text("an open text")
    script = Script([bash("c1", "cat open; exit 3"), bash("c2", "cat secret; exit 3"), bash("c3", "cat open")])

    run(home, lambda gate: ask(gate, script, tools=["Bash"], permission_mode="bypassPermissions", cwd=home.project), BASH)
    assert "an open text" in script.text_of("c1") and script.played == 2
    assert not any("the text of the secret" in r for r in script.requests)


def test_a_skipped_call_does_not_run(home: Machine) -> None:
    script, tools = Script([[Call("c1", "notify", {"text": "hello"})]]), Tools()
    server = create_sdk_mcp_server("own", tools=[tool_of(f) for f in tools.functions()])
    own = frozenset({"own"})
    run(home, lambda gate: ask(gate, script, "mcp__own__", own, tools=[], mcp_servers={"own": server}))
    assert tools.ran == [] and "Notifications are off" in script.text_of("c1")


def test_a_server_that_is_not_listed_is_judged_by_its_name(home: Machine) -> None:
    script, tools = Script([[Call("c1", "lookup", {"city": "Rome", "days": 1})]]), Tools()
    server = create_sdk_mcp_server("other", tools=[tool_of(f) for f in tools.functions()])
    run(home, lambda gate: ask(gate, script, "mcp__other__", frozenset({"own"}), tools=[], mcp_servers={"other": server}))
    assert tools.ran == [] and "The tool call `other__lookup` was not run" in script.text_of("c1")


def test_other_hooks_before_calls_are_refused(home: Machine) -> None:
    async def look(*_: Any) -> dict[str, Any]:
        return {}

    async def work(gate: AsyncGate) -> None:
        with pytest.raises(BadArguments, match="PreToolUse"):
            guard(gate, ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher(hooks=[look])]}))  # type: ignore[list-item]
        kept = guard(gate, ClaudeAgentOptions(hooks={"Stop": [HookMatcher(hooks=[look])]})).hooks  # type: ignore[list-item]
        assert kept is not None and len(kept["Stop"]) == 1 and kept["PreToolUse"][0].on_failure == "block"

    run(home, work)


@pytest.mark.parametrize(
    ("tool", "result", "want"),
    [
        ("Bash", {"stdout": "a", "stderr": "b", "interrupted": False}, {"stdout": "T", "stderr": "", "interrupted": False}),
        ("Grep", {"mode": "content", "filenames": ["a"], "content": "a"}, {"mode": "content", "filenames": [], "content": "T"}),
        ("mcp__a__b", [{"type": "image", "data": "a"}], [{"type": "text", "text": "T"}]),
        ("mcp__a__b", "a", "T"),
        ("Read", {"type": "image", "file": {"base64": "a"}}, same_shape("Read", {}, "T")),
    ],
)
def test_a_withheld_result_has_the_structure_of_the_original(tool: str, result: Any, want: Any) -> None:
    assert same_shape(tool, result, "T") == want
