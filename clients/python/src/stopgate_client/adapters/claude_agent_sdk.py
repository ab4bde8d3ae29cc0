"""The Claude Agent SDK: every tool call goes through the gate, those of Claude Code's own tools and of sub-agents too.

    options = guard(gate, ClaudeAgentOptions(...))
    async for message in query(prompt="...", options=options):

A refused call does not run: the model reads why, as an error of the call, and the run goes on. An allowed one runs
with the arguments that the gate released, and the result policy decides which part of its result the model reads.
If the gate fails, calls are refused and results withheld. A tool of an MCP server is SERVER__TOOL in rules.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from stopgate_client import AsyncGate, AsyncOutcome, AsyncSession, BadArguments, StopgateError

from ._claude import decision, named, replaced

_DAY = 86_400.0  # the gate ends its questions earlier


def guard(
    gate: AsyncGate, options: ClaudeAgentOptions | None = None, *, session: AsyncSession | str | None = None, own: Collection[str] = ()
) -> ClaudeAgentOptions:
    """Return a copy of the options with hooks that ask the gate.

    `session` is the session of the calls, by default the current one. `own` names in-process servers whose tools go
    by their plain names. Other hooks on PreToolUse raise BadArguments: they could change what was judged.
    """
    options = options or ClaudeAgentOptions()
    hooks: dict[Any, list[HookMatcher]] = {event: [*matchers] for event, matchers in (options.hooks or {}).items()}
    if hooks.get("PreToolUse"):
        raise BadArguments("the options have PreToolUse hooks, which could change a judged call: add hooks that only look after guard()")
    ours = _Hooks(gate, session, frozenset(own))
    for event, hook in ours.of_events().items():
        hooks.setdefault(event, []).append(HookMatcher(hooks=[hook], timeout=_DAY, on_failure="block"))
    return replace(options, hooks=hooks)


class _Hooks:
    def __init__(self, gate: AsyncGate, session: AsyncSession | str | None, own: frozenset[str]) -> None:
        self._gate, self._session, self._own = gate, session, own
        self._running: dict[str, AsyncOutcome] = {}
        self._unreadable: set[str] = set()

    def of_events(self) -> dict[str, Any]:
        before = {"PreToolUse": self.before, "PreSkillShellCommand": self.before}
        return before | {"PostToolUse": self.after, "PostToolUseFailure": self.failed, "PostToolBatch": self.batch}

    async def before(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        """Judge a call. A failure of the gate is a refusal; every other failure blocks the call, too."""
        tool, server = named(event, self._own)
        facts: dict[str, Any] = {"server": server, "agent": event.get("agent_type"), "call_id": event["tool_use_id"]}
        try:
            outcome = await self._gate.decide(tool, event["tool_input"], session=self._session, **facts)
        except StopgateError as error:
            return decision(event, "deny", f"[stopgate] The tool call `{tool}` was not run: {error}")
        if not outcome.allowed:
            return decision(event, "deny", outcome.model_text)
        if event["hook_event_name"] == "PreToolUse":
            self._running[event["tool_use_id"]] = outcome
            return decision(event, "allow", outcome.public, updatedInput=outcome.args)
        if outcome.args != event["tool_input"]:  # a command of a skill: it can be refused, not changed
            return decision(event, "deny", f"[stopgate] The tool call `{tool}` was not run: a person changed it.")
        return {}

    async def after(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        """Report a result, and replace it by the part that the model may read."""
        told = await self._told(event, event["tool_response"], failed=None)
        return {} if told is None else replaced(event, told)

    async def failed(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        """Report a failure. Claude Code does not let its text be replaced: if the model may not read it, `batch` ends the run."""
        self._unreadable.add(event["tool_use_id"])
        if await self._told(event, event["error"], failed=True) is None:
            self._unreadable.remove(event["tool_use_id"])
        return {}

    async def batch(self, event: dict[str, Any], _id: str | None, _context: Any) -> dict[str, Any]:
        """End the run, before the model's next request, if that has a text that the model may not read or that was not judged."""
        if not {call["tool_use_id"] for call in event["tool_calls"]} & (self._unreadable | self._running.keys()):
            return {}
        return {"continue_": False, "stopReason": "[stopgate] The text of a failed call is withheld, so the run ends."}

    async def _told(self, event: dict[str, Any], result: Any, failed: bool | None) -> str | None:
        """Return the text for the model, or None for the result itself."""
        try:
            delivery = await self._running.pop(event["tool_use_id"]).ran(result, failed=failed)
        except (StopgateError, KeyError) as error:
            return f"[stopgate] The result of `{event['tool_name']}` is withheld: {type(error).__name__}."
        return None if delivery.delivered and not delivery.changed else delivery.model_text
