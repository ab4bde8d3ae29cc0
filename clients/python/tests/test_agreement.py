"""10,000 random and recorded calls: what `stopgate decide --batch` reports, and nothing lost or mixed among them."""

from __future__ import annotations

import asyncio
import json
import pathlib
import random
import subprocess
from typing import Any

from conftest import HERE, options_of

from stopgate_client import AsyncGate, AsyncOutcome, aio, jsontext

POLICY = HERE.parents[1] / "typescript" / "test" / "parity.toml"
RECORDED = HERE.parents[3] / ".." / "shared" / "corpus" / "toolcalls"
COUNT = 10_000

BROKEN = [
    '{"a":1,"a":2}', "[1]", '"x"', "{} {}", '{"path":"\\ud800"}', "", " ", '{"amount":1e999999999}', '{"id":12345678901234567890}',
    "\ufeff{}", "nonsense", '{"a":tru', "null",
]


def draw(of: random.Random) -> tuple[str, str]:
    tool = of.choice(["write_file", "transfer", "run", "open", "nope", "Write_File"])
    args: dict[str, Any] = {}
    if tool == "transfer":
        args = {"to": of.choice(["anna", "zoë", "mallory", ""]), "amount": of.choice([0, 1, -1, 1000, 1000.0001, 1e21, 0.1, 10**30, "5"])}
        if of.random() < 0.5:
            args["tags"] = of.choice([[], ["a", "é"], [1]])
    elif tool == "run":
        args = {"command": of.choice(["ls src", "git status", "rm -rf /", "cat a.txt", "cat ../a", "git status; rm x", "echo $(rm x)", "\0"])}
    elif tool == "open":
        args = {f"{of.choice('aé😀')}{i}": of.choice([1.5, "x\n", None, [1, [2]], {"b": True}, -0.0, 1e-7]) for i in range(of.randrange(4))}
    else:
        path = of.choice(["src/a.go", "src/../.env", "tmp/x", "README", "/etc/passwd", "src/é.go", "src/.env.local"])
        args = {"path": path, "content": of.choice(["", "hello", "PassWord = 1", "x" * of.randrange(5000), "é😀"])}
    if of.random() < 0.1:
        args["extra"] = of.choice([1, None, "x", {"a": []}])
    text = json.dumps(args, ensure_ascii=of.random() < 0.5, indent=of.choice([None, None, 1]))
    kind = of.randrange(20)
    return tool, text[: of.randrange(30)] if kind == 0 else of.choice(BROKEN) if kind == 1 else text


def calls() -> list[tuple[str, str]]:
    found = []
    for name in ("coding-agent", "airline"):
        path = RECORDED / f"{name}.jsonl"
        if path.exists():
            with path.open(encoding="utf-8") as lines:
                found += [("open", json.dumps(json.loads(line)["args"], ensure_ascii=False)) for line in lines]
        else:
            print(f"no recorded calls: {path} is missing")
    of = random.Random(7)
    return found + [draw(of) for _ in range(COUNT - len(found))]


def compare(about: tuple[str, str], outcome: AsyncOutcome, want: dict[str, Any], stream: bool) -> None:
    """Where the batch reports a question there is no person here.

    A question about a streamed call is asked, and refused, before the call ends in the middle.
    """
    assert outcome.status == {"unattended": "allowed", "skip": "skipped"}.get(want["mode"], "denied"), about
    early = stream and want["code"] == "truncated_arguments" and outcome.code == "no_approver"
    if want["mode"] in ("ask", "edit") or early:
        assert outcome.code == "no_approver", about
        return
    rule = outcome.rule.line if outcome.rule else None
    wanted = want["rule"]["line"] if want["rule"] else None
    found = (outcome.mode, outcome.code, outcome.public, outcome.decided_at, rule)
    assert found == (want["mode"], want["code"], want["public"], want["decided_at"], wanted), about
    if outcome.allowed:
        assert jsontext.same(jsontext.decode(outcome.args_text), jsontext.decode(about[1])), about


async def streamed(gate: AsyncGate, tool: str, text: str, size: int) -> AsyncOutcome:
    async with gate.call(tool) as call:
        for i in range(0, len(text), size):
            if call.refused:
                break
            await call.feed(text[i : i + size])
        return await call.close()


def test_every_outcome_is_that_of_a_batch(program: str, state: pathlib.Path) -> None:
    proposed = calls()
    options = options_of(program, state, POLICY.read_text(encoding="utf-8"))
    lines = "\n".join(json.dumps({"tool": tool, "raw": text}) for tool, text in proposed)
    line = [program, "decide", "--policy", str(options["policy"]), "--batch"]
    batch = subprocess.run(line, input=lines, capture_output=True, text=True, encoding="utf-8", check=False).stdout
    want = [json.loads(found) for found in batch.splitlines()]
    assert len(want) == len(proposed) == COUNT

    async def main() -> None:
        async with await aio.local(**options) as gate:
            todo = iter(range(COUNT))

            async def work(stream: bool) -> None:
                for i in todo:
                    tool, text = proposed[i]
                    outcome = await (streamed(gate, tool, text, 1 + i % 64) if stream else gate.decide(tool, text))
                    compare(proposed[i], outcome, want[i], stream)

            await asyncio.gather(*[work(stream=i % 8 == 0) for i in range(32)])

    asyncio.run(main())


def test_a_thousand_calls_at_once(program: str, state: pathlib.Path) -> None:
    async def main() -> None:
        async with await aio.local(**options_of(program, state, POLICY.read_text(encoding="utf-8"))) as gate:

            @gate.tool(name="open")
            async def number(n: int) -> int:
                await asyncio.sleep(0)
                return n * n

            assert await asyncio.gather(*[number(i) for i in range(1000)]) == [i * i for i in range(1000)]

    asyncio.run(main())
