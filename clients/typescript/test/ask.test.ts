import assert from "node:assert/strict";
import { test } from "node:test";
import { BadAnswer, BadArguments, edit, no, type OnAsk, type Question, yes } from "../src/index.js";
import { fakeBinary, fakeGate, sleep } from "./support.js";

let onAsk: OnAsk = () => undefined;
const gate = await fakeGate({ onAsk: (question) => onAsk(question) });

test("yes runs the call, with who answered", async () => {
  let seen: Question | undefined;
  onAsk = async (question) => {
    seen = question;
    await sleep(10);
    return yes();
  };
  const outcome = await gate.decide("ask", { to: "anna" });
  assert.deepEqual(outcome.args, { to: "anna" });
  assert.equal(outcome.approval?.by, "local");
  assert.deepEqual([seen?.tool, seen?.args, seen?.public, seen?.complete, seen?.mode], ["ask", { to: "anna" }, "A person reads it.", true, "ask"]);
  assert.equal(seen?.signal.aborted, true, "the question is over");
});

test("no has the reason for the model", async () => {
  onAsk = () => no("not today");
  assert.equal((await gate.decide("ask", {})).modelText, "[stopgate] The tool call `ask` was not run: not today (approval_declined).");
});

test("edit runs other arguments", async () => {
  onAsk = () => edit({ to: "bob" });
  const outcome = await gate.decide("ask", { to: "anna" });
  assert.equal(outcome.argsText, '{"to":"bob"}');
  assert.equal(outcome.approval?.edited, true);
});

test("an edit that JSON cannot hold is an error, and the call is declined", async () => {
  onAsk = () => edit({ n: NaN });
  await assert.rejects(gate.decide("ask", {}), BadArguments);
});

test("a callback that throws, or returns something else, declines", async () => {
  onAsk = () => Promise.reject(new Error("no terminal"));
  await assert.rejects(gate.decide("ask", {}), /no terminal/);
  for (const value of [true, "yes", {}, { answer: "ok" }, null, 1]) {
    onAsk = () => value as never;
    await assert.rejects(gate.decide("ask", {}), BadAnswer);
  }
});

test("without a reply the question stays in the queue", async () => {
  onAsk = () => undefined;
  const outcome = await gate.decide("ask", {}, { wait: 100 });
  assert.equal(outcome.pending, true);
  assert.match(outcome.modelText, /approval_pending/);
  assert.equal((await outcome.wait(50)).pending, true);
});

test("an abort ends the question", async () => {
  let seen: Question | undefined;
  onAsk = (question) => {
    seen = question;
    return new Promise(() => {});
  };
  const stop = new AbortController();
  const call = gate.decide("ask", {}, { signal: stop.signal });
  while (seen === undefined) await sleep(5);
  stop.abort();
  await assert.rejects(call, { name: "AbortError" });
  assert.equal(seen.signal.aborted, true);
});

test("questions of calls at once are asked separately", async () => {
  onAsk = async (question) => {
    const { i } = question.args as { i: number };
    await sleep(i % 7);
    return i % 2 === 0 ? yes() : no(`no ${i}`);
  };
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => gate.decide("ask", { i })));
  outcomes.forEach((outcome, i) => (i % 2 === 0 ? assert.deepEqual(outcome.args, { i }) : assert.equal(outcome.public, `no ${i}`)));
});

test("a program without onAsk is no approver", async () => {
  const plain = await fakeGate();
  assert.equal((await plain.decide("ask", {}, { wait: 0 })).pending, true);
});

test("an operator that lets no programs answer: the question stays in the queue", async () => {
  const strict = await fakeGate({ binary: fakeBinary("no-programs"), onAsk: () => yes() });
  assert.equal((await strict.decide("ask", {}, { wait: 100 })).pending, true);
  const { headers } = (await strict.decide("headers", {})).args as { headers: Record<string, string> };
  assert.equal(headers["stopgate-approver"], undefined);
});
