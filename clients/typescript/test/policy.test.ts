// Policies in TypeScript, asked by a real gate.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as policies from "../src/policy/index.js";
import { allow, ask, type Call, deny, type EventPolicy, Rejected, Service, type SessionPolicy } from "../src/policy/index.js";
import { realGate, state } from "./real.js";

let sockets = 0;

/** A gate that asks a service on a socket of its own. */
async function governed(service: Service, more = "") {
  const server = await service.serve(`unix://${join(state, `p${sockets++}`)}`);
  after(() => server.close());
  const gate = await realGate(`version = 1
[[external]]
name = "ext"
url = "${server.url}"
hooks = ${JSON.stringify(service.hooks())}
${more}
[tools."*"]
unknown_params = "allow"
uncovered = "allow"
run = [{ mode = "unattended" }]
`);
  const decide = (tool: string, args: object, session = "s") => gate.decide(tool, args as Record<string, unknown>, { session, definition: { parameters: { type: "object" } } });
  return { gate, server, decide };
}

test("a gate allows, denies, fails and knows nothing", async () => {
  const service = new Service({ version: "1" })
    .gate("delete_*", (call) => (String(call.args.path).startsWith("/tmp/") ? allow("below_tmp") : deny("outside_tmp", "Only files below /tmp may be deleted.")))
    .gate(["broken", "odd"], async (call) => {
      if (call.tool === "odd") return { decision: "allow" } as never;
      throw new Error("secret");
    });
  const { decide, server } = await governed(service);
  assert.equal((await decide("delete_file", { path: "/tmp/a" })).allowed, true);
  const denied = await decide("delete_file", { path: "/etc" });
  assert.deepEqual([denied.allowed, denied.code, denied.public], [false, "outside_tmp", "Only files below /tmp may be deleted."]);
  assert.equal((await decide("broken", {})).code, "policy_error");
  assert.equal((await decide("odd", {})).code, "invalid_policy_result");
  assert.equal((await decide("other", {})).code, "policy_not_configured");
  await server.close();
  assert.equal((await decide("delete_file", { path: "/tmp/a" })).allowed, false);
});

test("the state of a session policy is the gate's", async () => {
  const read: SessionPolicy = {
    name: "read_before_write",
    tools: ["read_file", "write_file"],
    check: (call, s: { read?: string[] }) => (call.tool === "write_file" && !s.read?.includes(call.args.path) ? deny("read_required", "Read the file first.") : allow()),
    onResult: (call, result, s: { read?: string[] }) => {
      if (call.tool === "read_file" && result.succeeded) (s.read ??= []).push(call.args.path);
    },
  };
  const { decide } = await governed(new Service({ version: "1" }).session(read));
  assert.equal((await decide("write_file", { path: "a" })).code, "read_required");
  await (await decide("read_file", { path: "a" })).ran("text", { failed: false });
  assert.equal((await decide("write_file", { path: "a" })).allowed, true);
  assert.equal((await decide("write_file", { path: "b" })).allowed, false);
  assert.equal((await decide("write_file", { path: "a" }, "other")).allowed, false);
});

test("a judge only tightens, and its failure denies", async () => {
  const { decide } = await governed(new Service({ version: "1" }).judge("*", (call) => ({ probability: call.args.p }), 0.7));
  assert.equal((await decide("x", { p: 0.6 })).allowed, true);
  assert.equal((await decide("x", { p: 0.7 })).code, "judge_denied");
  assert.equal((await decide("x", { p: "no" })).code, "judge_unavailable");
});

const question = { protocol: 1, id: "q", policy: "p", scratch: {}, exchange: { id: "x", streamed: true } };

test("event policies send, replace, drop and refuse", async () => {
  const policy: EventPolicy = {
    request: () => {
      throw new Rejected("Not at night.", 429);
    },
    contentDelta: (delta, exchange, out) => {
      exchange.scratchpad["n"] = Number(exchange.scratchpad["n"] ?? 0) + 1;
      exchange.emit("seen", "a delta");
      out.sendText(delta.toUpperCase());
    },
    toolCallComplete: (call, _, out) => (call.tool === "bad" ? out.sendText("BLOCKED", true) : out.send(call)),
  };
  const service = new Service({ version: "1" }).events(policy);
  const head = { protocol: 1, id: "q", version: "1" };
  assert.deepEqual(service.hooks(), ["request", "content_delta", "tool_call_complete"]);
  assert.deepEqual(await service.answer({ ...question, ask: "request", request: {} }), { ...head, reject: { status: 429, message: "Not at night." }, scratch: {} });
  assert.deepEqual(await service.answer({ ...question, ask: "content_delta", delta: "a", choice: 0, index: 0 }), {
    ...head, output: [{ text: "A" }], scratch: { n: 1 }, events: [{ type: "seen", summary: "a delta" }],
  });
  const call = (tool: string) => ({ choice: 0, index: 0, id: "c", tool, arguments: "{}" });
  const about = { ...question, scratch: {}, ask: "tool_call_complete" };
  assert.deepEqual((await service.answer({ ...about, call: call("good") }))["output"], [{ call: true, arguments: "{}" }]);
  assert.deepEqual(await service.answer({ ...about, call: call("bad") }), { ...head, output: [{ text: "BLOCKED" }], finish: true, scratch: {} });
  assert.equal(((await service.answer({ ...about, finished: true, call: call("good") }))["error"] as { code: string }).code, "policy_error");
  assert.deepEqual(await service.answer({ ...about, ask: "finish_reason", finish_reason: "stop" }), head, "a hook that is not there passes");
});

test("handoffs, and questions that are none", async () => {
  const service = new Service({ version: "1" }).handoff("billing", (call: Call) => (call.args.ticket ? allow() : ask("no_ticket")));
  const to = (name: string, args: object) => service.answer({ ...question, ask: "handoff", call: { proposal: "1", tool: "handoff", args, to: name } });
  assert.equal((await to("billing", { ticket: 1 }))["decision"], "allow");
  assert.equal(((await to("billing", {}))["error"] as { code: string }).code, "invalid_policy_result", "a gate does not ask");
  assert.equal((await to("admin", {}))["reason"], "policy_not_configured");
  assert.ok((await service.answer({ ...question, protocol: 2, ask: "gate" }))["error"]);
  assert.throws(() => new Service({ version: "" }), RangeError);
  await assert.rejects(service.serve("http://0.0.0.0:1"), RangeError);
});

test("the ten lines of the page", async () => {
  const page = readFileSync(fileURLToPath(new URL("../../../../docs/external-policies.md", import.meta.url)), "utf8");
  const program = /```typescript policy.ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  assert.ok(program !== "" && program.split("\n").length <= 11);
  const body = program.replace(/^import .*$/m, "").replace(/^await service.serve.*$/m, "return service;");
  const service = new Function("policies", `const { allow, deny, Service } = policies;${body}`)(policies) as Service;
  const decided = await service.answer({ ...question, ask: "gate", call: { proposal: "1", tool: "delete_file", args: { path: "/etc" } } });
  assert.deepEqual([decided["decision"], decided["reason"]], ["deny", "outside_tmp"]);
});
