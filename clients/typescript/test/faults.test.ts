import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { BadAnswer, BadArguments, connect, GateTimeout, GateUnavailable, local, Problem, StopgateError } from "../src/index.js";
import { fakeBinary, fakeGate, sleep } from "./support.js";

for (const [mode, error, text] of [
  ["silent", GateTimeout, /did not answer within 300 ms/],
  ["error", GateUnavailable, /another program has the socket \(gate_untrusted\)/],
  ["protocol", BadAnswer, /protocol 2/],
  ["chatter", BadAnswer, /not a JSON object/],
  ["exit", GateUnavailable, /no policy file/],
] as const) {
  test(`a relay that begins with ${mode}`, async () => {
    const began = performance.now();
    await assert.rejects(local({ binary: fakeBinary(mode), timeout: mode === "silent" ? 300 : 5000 }), (thrown: unknown) => thrown instanceof error && text.test(thrown.message));
    assert.ok(performance.now() - began < 5000);
  });
}

const shared = await fakeGate();

for (const [tool, error, code] of [
  ["hang", GateTimeout],
  ["die", GateUnavailable],
  ["garbage", BadAnswer],
  ["lost", GateUnavailable],
  ["not-json", BadAnswer],
  ["html", BadAnswer],
  ["redirect", BadAnswer],
  ["problem", Problem, "unavailable"],
  ["other-tool", BadAnswer],
  ["other-session", BadAnswer],
  ["no-args", BadAnswer],
  ["odd-status", BadAnswer],
  ["short", BadAnswer],
  ["twice", BadAnswer],
  ["swapped", BadAnswer],
  ["odd-mode", BadAnswer],
] as const) {
  test(`a gate that answers with ${tool}: an error within the deadline`, async () => {
    const gate = tool === "hang" ? await fakeGate({ timeout: 4000 }) : shared;
    const began = performance.now();
    await assert.rejects(gate.decide(tool, { a: 1 }), (thrown: unknown) => thrown instanceof error && thrown instanceof StopgateError && (code === undefined || (thrown as Problem).code === code));
    assert.ok(performance.now() - began < 8000);
  });
}

test("the end of the relay ends every open call, and the next call starts another one", async () => {
  const gate = await fakeGate();
  await gate.decide("read", {});
  const open = ["hang", "hang", "ask"].map((tool) => gate.decide(tool, {}));
  const stream = gate.call("hang");
  await stream.feed("{}");
  const ends = Promise.all([...open, stream.close()].map((call) => assert.rejects(call, GateUnavailable)));
  await assert.rejects(gate.decide("die", {}), GateUnavailable);
  await ends;
  assert.equal((await gate.decide("read", {})).allowed, true);
});

test("a timeout that is none is refused", async () => {
  for (const timeout of [0, -1, NaN, Infinity, 1e12]) {
    await assert.rejects(local({ binary: fakeBinary(), timeout }), BadArguments);
    await assert.rejects(connect("http://127.0.0.1:1", { timeout }), BadArguments);
  }
});

test("a key is not printed", async () => {
  const session = await shared.session();
  assert.ok(session.key);
  for (const text of [inspect(session, { depth: 9, showHidden: true }), inspect(shared, { depth: 9, showHidden: true }), JSON.stringify(session)]) assert.ok(!text.includes(session.key), text);
});

test("a closed gate object allows nothing", async () => {
  const gate = await fakeGate();
  const open = assert.rejects(gate.decide("hang", {}), GateUnavailable);
  await sleep(50);
  await gate.close();
  await open;
  await assert.rejects(gate.decide("read", {}), GateUnavailable);
});

test("an AbortSignal in the middle ends the call", async () => {
  const gate = await fakeGate();
  for (const tool of ["hang", "ask"]) {
    const stop = new AbortController();
    const call = assert.rejects(gate.decide(tool, {}, { signal: stop.signal }), { name: "AbortError" });
    await sleep(50);
    stop.abort();
    await call;
  }
  await assert.rejects(gate.decide("read", {}, { signal: AbortSignal.abort(new Error("before")) }), /before/);
  assert.equal((await gate.decide("read", {})).allowed, true);
});

for (const mode of ["stubborn", "heir"]) {
  test(`close ends although the relay is ${mode}`, async () => {
    const gate = await local({ binary: fakeBinary(mode), timeout: 10_000 });
    assert.equal((await gate.decide("read", {})).allowed, true);
    const began = performance.now();
    await gate.close();
    assert.ok(performance.now() - began < 4000);
  });
}
