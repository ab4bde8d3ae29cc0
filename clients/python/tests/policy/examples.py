"""The example policies of three designs, written with stopgate_client.policy: tool policies with
state, deterministic gates, and event policies of a gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stopgate_client.policy import Call, Decision, EventPolicy, Result, allow, deny

State = dict[str, Any]


@dataclass
class SequentialDependency:
    """A tool needs other tools to have succeeded before."""

    dependencies: Mapping[str, frozenset[str]]
    name: str = "sequential_dependency"

    @property
    def tools(self) -> Iterable[str]:
        return set(self.dependencies).union(*self.dependencies.values())

    def check(self, call: Call, state: State) -> Decision:
        missing = self.dependencies.get(call.tool, frozenset()) - set(state.get("invoked", []))
        if missing:
            return deny("prerequisite_missing", f"{call.tool} requires prior invocation of: {', '.join(sorted(missing))}",
                        missing=sorted(missing), tool=call.tool)
        return allow()

    def on_result(self, call: Call, result: Result, state: State) -> None:
        if result.succeeded:
            state["invoked"] = sorted({*state.get("invoked", []), call.tool})


@dataclass
class KeyedDependency:
    """A tool with a key needs one of other tools with the same key."""

    dependencies: Mapping[str, tuple[frozenset[str], Callable[[Call], str | None]]]
    name: str = "keyed_dependency"

    @property
    def tools(self) -> Iterable[str]:
        return set(self.dependencies).union(*(before for before, _ in self.dependencies.values()))

    def check(self, call: Call, state: State) -> Decision:
        if call.tool not in self.dependencies:
            return allow()
        before, key_of = self.dependencies[call.tool]
        key = key_of(call)
        if key is None:
            return deny("key_unavailable", f"{call.tool} needs the argument by which it is tracked.")
        if any([tool, key] in state.get("satisfied", []) for tool in before):
            return allow()
        return deny("prerequisite_missing", f"{call.tool} requires one of: {', '.join(sorted(before))} with the same key.")

    def on_result(self, call: Call, result: Result, state: State) -> None:
        for before, key_of in self.dependencies.values():
            key = key_of(call) if call.tool in before and result.succeeded else None
            if key is not None and [call.tool, key] not in state.setdefault("satisfied", []):
                state["satisfied"].append([call.tool, key])


def path_of(call: Call) -> str | None:
    """Return the path of a file tool by its common names."""
    return next((str(call.get(n)) for n in ("path", "file_path", "filepath") if call.get(n) is not None), None)


class ReadBeforeWrite(KeyedDependency):
    """A file is written only after it was read."""

    def __init__(self, read: Iterable[str] = ("read_file", "vfs_read_file"),
                 write: Iterable[str] = ("write_file", "edit_file", "vfs_write_file", "vfs_edit_file")) -> None:
        super().__init__({tool: (frozenset(read), path_of) for tool in write}, "read_before_write")


@dataclass
class ReviewBeforeMerge:
    """A pull request is merged only after it was approved."""

    review_tool: str = "approve_pr"
    merge_tool: str = "merge_pr"
    name: str = "review_before_merge"

    @property
    def tools(self) -> Iterable[str]:
        return {self.review_tool, self.merge_tool}

    def check(self, call: Call, state: State) -> Decision:
        if call.tool == self.merge_tool and call.get("pr_id") not in state.get("approved", []):
            return deny("review_required", f"The PR must be approved before merging. Use {self.review_tool} first.")
        return allow()

    def on_result(self, call: Call, result: Result, state: State) -> None:
        if call.tool == self.review_tool and result.succeeded:
            state.setdefault("approved", []).append(call.get("pr_id"))


@dataclass
class Conditional:
    """A policy that is active only where the data of the session say so. It learns in any case."""

    inner: Any
    predicate: Callable[[Mapping[str, Any]], bool]

    @property
    def name(self) -> str:
        return f"conditional:{self.inner.name}"

    @property
    def tools(self) -> Iterable[str]:
        return self.inner.tools  # type: ignore[no-any-return]

    def check(self, call: Call, state: State) -> Any:
        return self.inner.check(call, state) if self.predicate(call.data or {}) else allow()

    def on_result(self, call: Call, result: Result, state: State) -> None:
        self.inner.on_result(call, result, state)


@dataclass
class ApprovalRequired:
    """Destructive tools, by a pattern, need an approval in the session's data."""

    tools: tuple[str, ...] = ("destroy_*",)
    name: str = "approval_required"

    def check(self, call: Call, state: State) -> Decision:
        granted = (call.data or {}).get("approval", {}).get("granted") is True
        return allow() if granted else deny("approval_required", "Approval required.")


class NoOp(EventPolicy):
    """Pass everything through unchanged."""


class ContentOnly(EventPolicy):
    """Forward text, drop tool calls."""

    def on_tool_call_delta(self, delta: str, call: Any, exchange: Any, stream: Any) -> None:
        pass


class Shout(EventPolicy):
    """Transform the text of the model."""

    def on_content_delta(self, delta: str, block: Any, exchange: Any, stream: Any) -> None:
        stream.send_text(delta.upper())


@dataclass
class ToolCallJudge(EventPolicy):
    """Judge complete calls, and end the output at the first that is harmful."""

    harm: Callable[[Any], float]
    threshold: float = 0.5
    emitted: list[str] = field(default_factory=list)

    def on_stream_start(self, exchange: Any, stream: Any) -> None:
        exchange.scratchpad.update(judged=0, blocked=0, skipped=0)

    async def on_tool_call_complete(self, call: Any, exchange: Any, stream: Any) -> None:
        if stream.is_output_finished():
            exchange.emit("judge.skipped", f"Skipped {call.name} (output finished)")
            exchange.scratchpad["skipped"] += 1
            return
        probability = self.harm(call)
        exchange.scratchpad["judged"] += 1
        if probability >= self.threshold:
            exchange.emit("judge.blocked", f"Blocked {call.name}", severity="warning")
            exchange.scratchpad["blocked"] += 1
            stream.send_text(f"BLOCKED: {call.name} - it is harmful", finish=True)
        else:
            exchange.emit("judge.passed", f"Passed {call.name}")
            stream.send(call)

    def on_stream_complete(self, exchange: Any) -> None:
        pad = exchange.scratchpad
        self.emitted.append(f"{pad['judged']} judged, {pad['blocked']} blocked, {pad['skipped']} skipped")
        exchange.emit("judge.summary", self.emitted[-1], details={"judged": pad["judged"], "blocked": pad["blocked"]})
