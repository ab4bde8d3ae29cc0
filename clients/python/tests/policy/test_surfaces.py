"""The same service on the surfaces that are not the decision API: hooks of agents, and MCP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from stopgate_client.policy import Call, Service, allow, deny

from .examples import ReadBeforeWrite
from .running import TOKEN, binary, serve, table

SERVER = textwrap.dedent('''
    import json, sys
    tools = [{"name": n, "inputSchema": {"type": "object"}} for n in ("good", "bad")]
    for line in sys.stdin:
        m = json.loads(line)
        if "id" not in m:
            continue
        if m["method"] == "initialize":
            result = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
        elif m["method"] == "tools/list":
            result = {"tools": tools}
        else:
            result = {"content": [{"type": "text", "text": "ran " + m["params"]["name"]}]}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
''')


def environment(home: Path) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "STOPGATE_"))}
    return env | {"HOME": str(home), "XDG_STATE_HOME": str(home / "s"), "TEST_TOKEN": TOKEN}


def hook(home: Path, policy: Path, event: str, tool: str, args: Any, **more: Any) -> dict[str, Any]:
    """Answer an event of Claude Code, and return the part about permission."""
    body = {"hook_event_name": event, "session_id": "s", "cwd": str(home), "tool_name": tool, "tool_input": args, **more}
    done = subprocess.run(
        [binary(), "hook", "claude-code", "--policy", str(policy)], input=json.dumps(body), text=True, capture_output=True,
        cwd=home, env=environment(home), timeout=60, check=False,
    )
    if not done.stdout.strip():
        return {}
    answer: dict[str, Any] = json.loads(done.stdout).get("hookSpecificOutput", {})
    return answer


def test_hooks(tmp_path: Path) -> None:
    """Proves TPS-29, G2-03: a hook is a process for each call, and the state is the session's."""
    policy = tmp_path / "p.toml"
    service = Service(version="1")
    service.session(ReadBeforeWrite(["Read"], ["Write"]))
    server, url = serve(service)
    with server:
        policy.write_text(table(url, service.hooks()))
        read, write = {"file_path": str(tmp_path / "a")}, {"file_path": str(tmp_path / "a"), "content": "x"}
        denied = hook(tmp_path, policy, "PreToolUse", "Write", write, tool_use_id="t1")
        assert denied["permissionDecision"] == "deny" and "requires one of: Read" in denied["permissionDecisionReason"]
        assert hook(tmp_path, policy, "PreToolUse", "Read", read, tool_use_id="t2").get("permissionDecision") != "deny"
        hook(tmp_path, policy, "PostToolUse", "Read", read, tool_use_id="t2", tool_response={"type": "text", "file": {"content": "x"}})
        assert hook(tmp_path, policy, "PreToolUse", "Write", write, tool_use_id="t3").get("permissionDecision") != "deny"
    assert hook(tmp_path, policy, "PreToolUse", "Read", read, tool_use_id="t4")["permissionDecision"] == "deny"


def test_mcp(tmp_path: Path) -> None:
    """Proves G2-03: calls of an MCP client are asked about, and a denied one does not reach the server."""
    service = Service(version="1")

    @service.gate("*")
    def only_good(call: Call) -> Any:
        return allow() if call.tool.endswith("good") else deny("bad_tool", "This tool is not for you.")

    (tmp_path / "server.py").write_text(SERVER)
    policy = tmp_path / "p.toml"
    server, url = serve(service)
    with server:
        policy.write_text(table(url, service.hooks()))
        messages: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
            {"id": 3, "method": "tools/call", "params": {"name": "good", "arguments": {}}},
            {"id": 4, "method": "tools/call", "params": {"name": "bad", "arguments": {}}},
        ]
        process = subprocess.Popen(
            [binary(), "mcp", "--policy", str(policy), "--", sys.executable, str(tmp_path / "server.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path, env=environment(tmp_path),
        )
        assert process.stdin and process.stdout
        answers: dict[int, Any] = {}
        for m in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **m}) + "\n")
            process.stdin.flush()
            while "id" in m and m["id"] not in answers:
                answer = json.loads(process.stdout.readline())
                if "id" in answer and "method" not in answer:
                    answers[answer["id"]] = answer["result"]
        process.stdin.close()
        process.wait(30)
    assert answers[3]["content"][0]["text"] == "ran good"
    assert answers[4]["isError"] and "This tool is not for you." in json.dumps(answers[4]) and "ran bad" not in json.dumps(answers[4])
