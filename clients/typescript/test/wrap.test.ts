import assert from "node:assert/strict";
import { test } from "node:test";
import { BadArguments, Denied, GateUnavailable, type Session } from "../src/index.js";
import { fakeGate } from "./support.js";

const gate = await fakeGate();
const ran: unknown[] = [];

test("a wrapped function runs the judged arguments and returns its own value", async () => {
  const value = { at: new Date(0), text: "fine" };
  const read = gate.wrap(function read(args: { path: string }, context: string) {
    ran.push(args, context);
    return value;
  });
  const args = { path: "a" };
  assert.equal(read.name, "read");
  assert.equal(await read(args, "context"), value);
  assert.deepEqual(ran.splice(0), [{ path: "a" }, "context"]);
});

test("changes of the object after the call do not run", async () => {
  const args = { path: "a" };
  const read = gate.wrap(({ path }: { path: string }) => path, { name: "read" });
  const running = read(args);
  args.path = "/etc/passwd";
  assert.equal(await running, "a");
});

test("a refusal throws Denied, or returns the text for the model", async () => {
  const fn = (): string => (ran.push("ran"), "x");
  await assert.rejects(gate.wrap(fn, { name: "deny" })({}), (error: unknown) => error instanceof Denied && error.code === "rule_matched" && error.message === "[stopgate] The tool call `deny` was not run: Not here (rule_matched).");
  assert.equal(await gate.wrap(fn, { name: "skip", onDenied: "return" })({}), "[stopgate] The tool call `skip` was not run: Off (rule_skipped).");
  assert.deepEqual(ran, []);
});

test("a result that is withheld is not returned; one that was changed is", async () => {
  const say = (text: unknown) => gate.wrap(() => text, { name: "read" })({});
  await assert.rejects(say("a secret"), (error: unknown) => error instanceof Denied && error.code === "result_withheld" && !error.message.includes("secret"));
  assert.match(String(await gate.wrap(() => ["secret"], { name: "read", onDenied: "return" })({})), /^\[stopgate\] The result of `read` is withheld/);
  assert.equal(await say("change"), "changed");
  assert.deepEqual(await say({ a: "change" }), { a: "changed" });
  assert.equal(await say(undefined), undefined);
});

test("an exception of the tool is thrown, unless the result policy withholds it", async () => {
  const fail = (error: unknown) => gate.wrap((): string => { throw error; }, { name: "read" })({});
  const error = new Error("no such file");
  await assert.rejects(fail(error), error);
  await assert.rejects(fail(new Error("the secret is 1")), (thrown: unknown) => thrown instanceof Denied && !thrown.message.includes("1") && thrown.cause === undefined);
  await assert.rejects(fail("text"), (thrown: unknown) => thrown === "text");
});

test("results that are no JSON are errors and are not returned", async () => {
  const circular: unknown[] = [];
  circular.push(circular);
  for (const value of [circular, 1n, Symbol("x"), () => 1, "\ud800"]) await assert.rejects(gate.wrap(() => value, { name: "read" })({}), BadArguments);
});

test("a function without a name, and arguments that are no object", async () => {
  assert.throws(() => gate.wrap(() => 1), BadArguments);
  await assert.rejects(gate.wrap(() => 1, { name: "read" })(undefined as never), BadArguments);
  await assert.rejects(gate.wrap(() => (ran.push("ran"), 1), { name: "as-text" })({ text: '{"n":12345678901234567890}' }), BadArguments);
  await assert.rejects(gate.wrap(() => (ran.push("ran"), 1), { name: "as-text" })({ text: "[]" }), BadArguments);
  assert.deepEqual(ran, []);
});

test("an abort before the tool runs: it does not run", async () => {
  const stop = new AbortController();
  await assert.rejects(gate.run("read", {}, () => ran.push("ran"), { signal: stop.signal, onOutcome: () => stop.abort() }), { name: "AbortError" });
  assert.deepEqual(ran, []);
});

test("a gate that ends while the tool runs: its result is not returned", async () => {
  const dying = await fakeGate();
  await assert.rejects(dying.run("read", {}, async () => {
    await assert.rejects(dying.decide("die", {}), GateUnavailable);
    await dying.close();
    return "result";
  }), GateUnavailable);
});

test("sessions: given, current, and of the gate object", async () => {
  const sessionOf = async (session?: Session | string): Promise<string> => (await gate.decide("read", {}, { session })).session;
  const own = await sessionOf();
  assert.equal(await sessionOf(), own);
  const [a, b] = await Promise.all([gate.session({ agent: "triage" }), gate.session({ id: "b", data: { x: 1 }, userText: "hello", systemText: "be brief" })]);
  assert.notEqual(a.id, own);
  assert.deepEqual([b.id, b.key], ["b", "key of b"]);
  await a.run(async () => {
    assert.equal(await sessionOf(), a.id);
    await Promise.all([b.run(async () => assert.equal(await sessionOf(), "b")), sessionOf().then((id) => assert.equal(id, a.id))]);
    const { body } = (await gate.decide("headers", {})).args as { body: { agent: string } };
    assert.equal(body.agent, "triage");
    assert.equal(await sessionOf("named"), "named");
  });
  assert.equal(await sessionOf(), own);
  assert.equal(await sessionOf(b), "b");
});
