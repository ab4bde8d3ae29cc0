import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Outcome } from "../src/index.js";
import { binary, policyFile, realGate } from "./real.js";

const policy = readFileSync(fileURLToPath(new URL("../../test/parity.toml", import.meta.url)), "utf8");

interface Proposed {
  readonly tool: string;
  readonly raw: string;
}

/** What a batch reports about a line. */
interface Reported {
  readonly mode: string;
  readonly code: string;
  readonly public: string;
  readonly decided_at: number;
  readonly bytes: number;
  readonly pointer: string;
  readonly rule: { readonly line: number } | null;
}

let seed = Number(process.env["STOPGATE_SEED"] ?? 7);
const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;

function drawCall(): Proposed {
  const tool = pick(["write_file", "transfer", "run", "open", "nope", "Write_File"]);
  const args = drawArgs(tool);
  switch (random(20)) {
    case 0:
      return { tool, raw: JSON.stringify(args).slice(0, random(30)).toWellFormed() };
    case 1:
      return { tool, raw: pick(['{"a":1,"a":2}', "[1]", '"x"', "{} {}", '{"path":"\\ud800"}', "", " ", '{"amount":1e999999999}', '{"__proto__":{"a":1}}', '{"id":12345678901234567890}', "\ufeff{}"]) };
    default:
      return { tool, raw: pick([JSON.stringify(args), JSON.stringify(args, null, 1)]) };
  }
}

function drawArgs(tool: string): object {
  const extra = random(10) === 0 ? { extra: pick([1, null, "x", { a: [] }]) } : {};
  switch (tool) {
    case "transfer":
      return { to: pick(["anna", "bob", "zoë", "mallory", ""]), amount: pick([0, 1, -1, 1000, 1000.0001, 1e21, 0.1, "5"]), ...(random(2) ? { tags: pick([[], ["a", "é"], [1]]) } : {}), ...extra };
    case "run":
      return { command: pick(["ls src", "git status", "rm -rf /", "cat a.txt", "cat ../a", "git status; rm x", "echo $(rm x)", "\u0000", "ls 'a b'"]), ...extra };
    case "open":
      return Object.fromEntries(Array.from({ length: random(4) }, (_, i) => [pick(["a", "é", "😀", "\u2028", "q\"\\"]) + i, pick([1.5, "x\n\u0007", null, [1, [2]], { b: true }, "\u{1F600}", -0, 1e-7])]));
    default:
      return { path: pick(["src/a.go", "src/../.env", "tmp/x", "README", "/etc/passwd", "src/é.go", "src/.env.local"]), content: pick(["", "hello", "PassWord = 1", "x".repeat(random(5000)), "é😀"]), ...extra };
  }
}

/** The calls, in files of the corpus where it is next to the checkout. */
function recorded(): Proposed[] {
  const calls: Proposed[] = [];
  for (const name of ["coding-agent", "airline"]) {
    const path = fileURLToPath(new URL(`../../../../../shared/corpus/toolcalls/${name}.jsonl`, import.meta.url));
    if (!existsSync(path)) {
      console.log(`no recorded calls: ${path} is missing`);
      continue;
    }
    for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
      const { args } = JSON.parse(line) as { args: unknown };
      calls.push({ tool: "open", raw: JSON.stringify(args) });
    }
  }
  return calls;
}

function batch(calls: readonly Proposed[]): Reported[] {
  const input = calls.map((call) => JSON.stringify(call)).join("\n");
  const output = execFileSync(binary, ["decide", "--policy", policyFile(policy), "--batch"], { input, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "ignore"] });
  return output.trimEnd().split("\n").map((line) => JSON.parse(line) as Reported);
}

/**
 * Compares an outcome with the report about its call. Where a batch reports a question, there is no person here; and a
 * question about a streamed call is asked, and refused, before the call ends in the middle.
 */
function compare(call: Proposed, outcome: Outcome, want: Reported, streamed: boolean): void {
  const about = JSON.stringify(call).slice(0, 300);
  const status = { unattended: "allowed", skip: "skipped" }[want.mode] ?? "denied";
  assert.equal(outcome.status, status, about);
  const early = streamed && want.code === "truncated_arguments" && outcome.code === "no_approver";
  if (want.mode === "ask" || want.mode === "edit" || early) assert.equal(outcome.code, "no_approver", about);
  else assert.deepEqual([outcome.code, outcome.public, outcome.mode, outcome.decidedAt, outcome.rule?.line], [want.code, want.public, want.mode, want.decided_at, want.rule?.line], about);
  if (outcome.allowed) assert.deepEqual(JSON.parse(outcome.argsText), JSON.parse(call.raw), about);
}

test("10,000 random and recorded calls have the outcome, code, text, arguments and byte of decision of a batch", async () => {
  const calls = recorded();
  while (calls.length < 10_000) calls.push(drawCall());
  const want = batch(calls);
  assert.equal(want.length, calls.length);
  const gate = await realGate(policy);
  let next = 0;
  const statuses = new Set<string>();
  const work = async (streamed: boolean): Promise<void> => {
    for (let i = next++; i < calls.length; i = next++) {
      const call = calls[i] as Proposed;
      const outcome = streamed ? await stream(call) : await gate.decide(call.tool, call.raw);
      statuses.add(outcome.status);
      compare(call, outcome, want[i] as Reported, streamed);
    }
  };
  const stream = async ({ tool, raw }: Proposed): Promise<Outcome> => {
    const call = gate.call(tool);
    const size = 1 + random(64);
    for (let i = 0; i < raw.length && !call.refused; i += size) await call.feed(raw.slice(i, i + size));
    return call.close();
  };
  await Promise.all(Array.from({ length: 32 }, (_, i) => work(i % 8 === 0)));
  assert.deepEqual([...statuses].sort(), ["allowed", "denied", "skipped"]);
});
