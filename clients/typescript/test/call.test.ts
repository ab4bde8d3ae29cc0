import assert from "node:assert/strict";
import { test } from "node:test";
import { BadAnswer, BadArguments, GateTimeout, no, Problem, type Question, StopgateError, yes, edit } from "../src/index.js";
import { fakeGate, sleep } from "./support.js";

const gate = await fakeGate();

test("arguments in parts of any size are one text", async () => {
  const text = JSON.stringify({ path: "é😀\u2028", n: [1, 2] });
  for (const units of [1, 2, 3, 1000]) {
    const call = gate.call("read");
    for (let i = 0; i < text.length; i += units) await call.feed(text.slice(i, i + units));
    assert.equal((await call.close()).argsText, text);
  }
  const call = gate.call("read");
  for (const byte of Buffer.from(text)) await call.feed(new Uint8Array([byte]));
  assert.equal((await call.close()).argsText, text);
});

test("a refusal comes before the end of the arguments", async () => {
  const call = gate.call("read");
  await call.feed('{"a":"good');
  await call.feed(" bad");
  await call.decided;
  assert.equal(call.refused, true);
  assert.equal(call.verdict?.mode, "deny");
  await call.feed("more");
  const outcome = await call.close();
  assert.equal(outcome.status, "denied");
  assert.equal(outcome.public, "Bad.");
});

test("the newest verdict is reported, and one that permits is no outcome", async () => {
  const call = gate.call("read");
  await call.feed("{");
  while (call.verdict === undefined) await sleep(5);
  assert.equal(call.verdict.mode, "unattended");
  assert.equal(call.refused, false);
  await call.cancel();
  await assert.rejects(call.close(), StopgateError);
});

test("text that is not well-formed ends the call", async () => {
  for (const parts of [["\ud83d", "x"], ["{}", "\udc00"], [new Uint8Array([0xff])], [new Uint8Array([0xc3]), "a"]]) {
    const call = gate.call("read");
    await assert.rejects(async () => {
      for (const part of parts) await call.feed(part);
      await call.close();
    }, BadArguments);
    await assert.rejects(call.close(), BadArguments);
  }
  for (const part of ["{}\ud83d", new Uint8Array([0x7b, 0x7d, 0xc3])]) {
    const call = gate.call("read");
    await call.feed(part);
    await assert.rejects(call.close(), BadArguments);
  }
});

test("a call that is left is cancelled", async () => {
  let left;
  {
    await using call = gate.call("read");
    await call.feed("{}");
    left = call;
  }
  await assert.rejects(left.close(), StopgateError);
  await assert.rejects(left.feed("{}"), StopgateError);
});

test("a call that is cancelled while it is closed is not allowed", async () => {
  const asking = await fakeGate({ onAsk: () => sleep(300).then(yes) });
  for (const tool of ["read", "ask", "hang"]) {
    const call = asking.call(tool);
    await call.feed('{"to":"anna"}');
    const closed = assert.rejects(call.close(), StopgateError, tool);
    if (tool !== "read") await sleep(50); // the answer about "read" is there at once
    await call.cancel();
    await closed;
  }
});

test("a signal that is aborted before the outcome is there gives the call up", async () => {
  const stop = new AbortController();
  const call = gate.call("read", { signal: stop.signal });
  await call.feed("{}");
  const closed = assert.rejects(call.close(), { name: "AbortError" });
  stop.abort();
  await closed;
});

test("failures of the gate are errors within the deadline", async () => {
  const quick = await fakeGate({ timeout: 4000 });
  const run = async (tool: string): Promise<unknown> => {
    const call = quick.call(tool);
    await call.feed("{}");
    return call.close();
  };
  await assert.rejects(run("hang"), GateTimeout);
  await assert.rejects(run("break"), BadAnswer);
  await assert.rejects(run("problem"), Problem);
  const early = quick.call("early-yes");
  await early.feed("{}");
  await early.decided;
  await assert.rejects(early.close(), BadAnswer, "an answer that allows before the end of the arguments");
  await assert.rejects(run("short"), BadAnswer, "an answer about other arguments");
  const stop = new AbortController();
  const call = quick.call("hang", { signal: stop.signal });
  await call.feed("{}");
  stop.abort();
  await assert.rejects(call.close(), { name: "AbortError" });
});

test("a question is asked while the arguments arrive; a no ends the call at once", async () => {
  const asked: Question[] = [];
  const asking = await fakeGate({ onAsk: (question) => (asked.push(question), no("not today")) });
  const call = asking.call("ask");
  await call.feed('{"to":"anna"');
  await call.decided;
  assert.equal(call.refused, true);
  assert.deepEqual([asked.length, asked[0]?.complete, asked[0]?.argsText], [1, false, '{"to":"anna"']);
  assert.match((await call.close()).modelText, /not today \(approval_declined\)/);
});

test("a yes to a part of the arguments is asked again when they are complete", async () => {
  const asked: string[] = [];
  const asking = await fakeGate({ onAsk: (question) => (asked.push(question.argsText), yes()) });
  const call = asking.call("ask");
  await call.feed('{"to":"anna"');
  while (asked.length === 0) await sleep(5);
  await call.feed(',"cc":"bob"}');
  const outcome = await call.close();
  assert.deepEqual(asked, ['{"to":"anna"', '{"to":"anna","cc":"bob"}']);
  assert.equal(outcome.argsText, '{"to":"anna","cc":"bob"}');
});

test("an edit runs the edited arguments", async () => {
  const asking = await fakeGate({ onAsk: () => edit({ to: "bob" }) });
  const call = asking.call("ask");
  await call.feed('{"to":"anna"}');
  assert.deepEqual((await call.close()).args, { to: "bob" });
});
