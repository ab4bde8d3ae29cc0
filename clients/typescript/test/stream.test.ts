import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { BadAnswer, GateTimeout, no, type StreamedCall, type StreamOptions } from "../src/index.js";
import { type Api, type End, anthropic, chat, provider, responses, type Scripted } from "./provider.js";
import { fakeGate, sleep } from "./support.js";

const gate = await fakeGate({ onAsk: () => no("not today") });
const apis: readonly Api[] = ["chat", "responses", "anthropic"];

/** The stream of the real SDK of an API. */
async function sdk(api: Api, url: string): Promise<AsyncIterable<unknown>> {
  const openai = { apiKey: "x", baseURL: url, maxRetries: 0 };
  switch (api) {
    case "chat":
      return new OpenAI(openai).chat.completions.create({ model: "m", messages: [{ role: "user", content: "x" }], stream: true });
    case "responses":
      return new OpenAI(openai).responses.create({ model: "m", input: "x", stream: true });
    case "anthropic":
      return new Anthropic({ apiKey: "x", baseURL: url, maxRetries: 0 }).messages.create({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }], stream: true });
  }
}

interface Played {
  readonly events: unknown[];
  readonly calls: readonly StreamedCall[];
  readonly closed: boolean;
}

async function play(source: AsyncIterable<unknown>, options?: StreamOptions): Promise<Played> {
  const stream = gate.stream(source, options);
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return { events, calls: stream.calls, closed: stream.closed };
}

async function* from(events: readonly unknown[]): AsyncGenerator<unknown> {
  yield* events;
}

const summary = (calls: readonly StreamedCall[]): unknown[] => calls.map(({ callId, name, outcome }) => [callId, name, outcome?.status, outcome?.allowed ? outcome.argsText : undefined]);
const long = JSON.stringify({ path: "bad", content: "x".repeat(4000) });

for (const api of apis) {
  test(`${api}: the calls of a stream of the SDK are judged`, async () => {
    const calls = [{ name: "read", args: '{"path":"é😀"}' }, { name: "deny", args: '{"path":"b"}' }, { name: "read", args: '{ "path": 12345678901234567890 }' }];
    const server = await provider(api, calls);
    const played = await play(await sdk(api, server.url));
    assert.deepEqual(summary(played.calls), [["id0", "read", "allowed", '{"path":"é😀"}'], ["id1", "deny", "denied", undefined], ["id2", "read", "allowed", '{ "path": 12345678901234567890 }']]);
    assert.equal(played.closed, false);
    assert.ok(played.events.length >= server.sent);
  });

  test(`${api}: the stream is closed when a call is refused before its end`, async () => {
    const server = await provider(api, [{ name: "read", args: '{"a":1}' }, { name: "read", args: long }]);
    const played = await play(await sdk(api, server.url));
    await server.closed;
    assert.equal(played.closed, true);
    assert.ok(server.sent < 500, `${server.sent} events were sent`);
    assert.equal(played.calls.at(-1)?.outcome?.status, "denied");
    assert.equal(played.calls.at(-1)?.allowed, false);
  });

  test(`${api}: afterDenial "continue" reads on`, async () => {
    const { calls, closed } = await play(from(scripted(api, [{ name: "read", args: long }, { name: "read", args: "{}" }])), { afterDenial: "continue" });
    assert.equal(closed, false);
    assert.deepEqual(calls.map(({ allowed }) => allowed), [false, true]);
  });

  for (const end of ["length", "silent"] as const) {
    test(`${api}: an answer that ends early (${end}) releases no call that has not ended`, async () => {
      const { calls } = await play(from(scripted(api, [{ name: "read", args: '{"a":1}' }], end)));
      assert.deepEqual(summary(calls), [["id0", "read", undefined, undefined]]);
      assert.match(calls[0]?.modelText ?? "", /stream_truncated/);
    });
  }

  test(`${api}: a stream that breaks off, and one that is left`, async () => {
    const events = scripted(api, [{ name: "read", args: '{"a":1}' }]);
    const broken = gate.stream((async function* () {
      yield* events.slice(0, -3);
      throw new Error("connection lost");
    })());
    await assert.rejects(async () => { for await (const _ of broken) continue; }, /connection lost/);
    assert.equal(broken.calls[0]?.allowed, false);
    let returned = false;
    const left = gate.stream((async function* () {
      try {
        yield* events;
      } finally {
        returned = true;
      }
    })());
    for await (const _ of left) if (left.calls.length > 0) break;
    assert.equal(returned, true);
    assert.equal(left.calls[0]?.allowed, false);
    await assert.rejects(async () => { for await (const _ of left) continue; }, BadAnswer);
  });

  test(`${api}: a gate that hangs: an error, and the provider's stream is closed`, async () => {
    const quick = await fakeGate({ timeout: 4000 });
    const server = await provider(api, [{ name: "hang", args: "{}" }]);
    const stream = quick.stream(await sdk(api, server.url));
    await assert.rejects(async () => { for await (const _ of stream) continue; }, GateTimeout);
    assert.equal(stream.calls[0]?.allowed, false);
  });

  test(`${api}: a question is answered`, async () => {
    const { calls } = await play(from(scripted(api, [{ name: "ask", args: '{"to":"anna"}' }])));
    assert.match(calls[0]?.modelText ?? "", /not today \(approval_declined\)/);
  });
}

function scripted(api: Api, calls: readonly Scripted[], end: End = "whole"): object[] {
  return { chat, responses, anthropic }[api](calls, end, 4);
}

test("no call of a stream that breaks off or is left may run, not even a decided one", async () => {
  const events = scripted("anthropic", [{ name: "read", args: '{"a":1}' }]);
  for (const way of ["throws", "left"]) {
    const stream = gate.stream((async function* () {
      yield* events;
      await sleep(200); // the call is decided
      if (way === "throws") throw new Error("reset");
      yield { type: "ping" };
    })());
    const read = async (): Promise<void> => {
      for await (const event of stream) if ((event as { type: string }).type === "ping") break;
    };
    if (way === "throws") await assert.rejects(read, /reset/);
    else await read();
    await sleep(50);
    assert.deepEqual(summary(stream.calls), [["id0", "read", undefined, undefined]], way);
    assert.equal(stream.calls[0]?.allowed, false);
  }
});

const at = (output_index: number, item: object): object => ({ type: "response.output_item.done", output_index, item });
const call = { type: "function_call", call_id: "c", name: "read" };

for (const [name, events] of [
  ["a Responses item whose arguments differ from its deltas", [...responses([{ name: "read", args: "{}" }], "silent", 4), at(0, { ...call, call_id: "id0", arguments: '{"a":1}' })]],
  ["a Responses item that changes its name", [...responses([{ name: "read", args: "{}" }], "silent", 4), at(0, { ...call, call_id: "id0", name: "deny", arguments: "{}" })]],
  ["a Responses output with another call", [at(0, { ...call, arguments: "{}" }), { type: "response.completed", response: { output: [{ ...call, arguments: "{}" }, { ...call, call_id: "d", arguments: "{}" }] } }]],
  ["a Responses item that ends twice", [at(0, { ...call, arguments: "{}" }), at(0, { ...call, arguments: "{}" })]],
  ["a Responses item that no helper judges", [at(0, { type: "shell_call", call_id: "c", action: {} })]],
  ["arguments of a call that never began", [{ type: "response.function_call_arguments.delta", output_index: 3, delta: "{}" }]],
  ["an Anthropic block that no helper judges", [{ type: "content_block_start", index: 0, content_block: { type: "odd_tool_use", id: "a", name: "b", input: {} } }]],
  ["an Anthropic block that begins twice", [...anthropic([{ name: "read", args: "{}" }], "silent", 4), { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "id0", name: "deny", input: {} } }]],
  ["a Chat call that changes its name", [...chat([{ name: "read", args: "{}" }], "silent", 4), { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: "deny" } }] } }] }]],
  ["a Chat call without a name", [{ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: "{}" } }] } }] }]],
  ["a Chat call after its end", [...chat([{ name: "read", args: "{}" }], "whole", 4), { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: "x" } }] } }] }]],
  ["arguments that are no text", [{ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: "read", arguments: { a: 1 } } }] } }] }]],
  ["a stream of another kind", [{ candidates: [] }]],
  ["text", ["data: {}"]],
] as const) {
  test(`no call may run: ${name}`, async () => {
    const stream = gate.stream(from(events));
    await assert.rejects(async () => { for await (const _ of stream) continue; }, BadAnswer);
  });
}

test("tools that run at the provider are none of the program", async () => {
  const { calls } = await play(from([at(0, { type: "web_search_call", id: "w" }), at(1, { type: "message" }), at(2, { ...call, arguments: "{}" })]));
  assert.deepEqual(summary(calls), [["c", "read", "allowed", "{}"]]);
  assert.deepEqual((await play(from([{ type: "content_block_start", index: 0, content_block: { type: "server_tool_use", id: "s", name: "web_search", input: {} } }]))).calls, []);
});

test("calls without arguments, with free text, and of a namespace", async () => {
  const custom = { type: "custom_tool_call", call_id: "c", name: "read", namespace: "fs", input: 'a "b"\n' };
  const played = await play(from([{ type: "response.output_item.added", output_index: 0, item: { ...custom, input: "" } }, { type: "response.custom_tool_call_input.delta", output_index: 0, delta: 'a "' }, at(0, custom)]));
  assert.deepEqual(summary(played.calls), [["c", "fs.read", "allowed", '{"input":"a \\"b\\"\\n"}']]);
  assert.deepEqual(summary((await play(from(anthropic([{ name: "read", args: "" }], "whole", 4)))).calls), [["id0", "read", "allowed", "{}"]]);
  const legacy = [{ choices: [{ index: 0, delta: { function_call: { name: "read", arguments: "{" } } }] }, { choices: [{ index: 0, delta: { function_call: { arguments: "}" } }, finish_reason: "function_call" }] }];
  assert.deepEqual(summary((await play(from(legacy))).calls), [["", "read", "allowed", "{}"]]);
});
