import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BadAnswer, BadArguments, type Call, connect, Denied, edit, GateUnavailable, no, type OnAsk, Problem, type Question, yes } from "../src/index.js";
import { killGates, realGate, state, up } from "./real.js";
import { sleep } from "./support.js";

const policy = readFileSync(fileURLToPath(new URL("../../../testdata/adapters.toml", import.meta.url)), "utf8");
const asked: Question[] = [];
let onAsk: OnAsk = () => undefined;
const gate = await realGate(policy, {
  onAsk: (question) => {
    asked.push(question);
    return onAsk(question);
  },
});

test("allowed, denied and skipped calls", async () => {
  assert.deepEqual((await gate.decide("lookup", { city: "Zürich", days: 2 })).args, { city: "Zürich", days: 2 });
  const denied = await gate.decide("delete_file", { path: "notes.txt" });
  assert.deepEqual([denied.status, denied.code, denied.modelText], ["denied", "rule_matched", "[stopgate] The tool call `delete_file` was not run: No file is deleted here (rule_matched)."]);
  assert.equal(denied.envelope?.status, "denied");
  assert.equal((await gate.decide("notify", { text: "x" })).status, "skipped");
  assert.equal((await gate.decide("Lookup", { city: "x" })).code, "policy_not_configured", "a tool name in capitals is another tool");
});

test("questions: yes, no, edit, late", async () => {
  const mail = { to: "anna@example.com", body: "hello" };
  onAsk = () => yes();
  assert.deepEqual((await gate.decide("send_mail", mail)).args, mail);
  assert.deepEqual([asked[0]?.tool, asked[0]?.args, asked[0]?.public], ["send_mail", mail, "A person reads every mail."]);
  onAsk = () => no("not today");
  assert.match((await gate.decide("send_mail", mail)).modelText, /not today/);
  onAsk = () => edit({ path: "drafts/motd", content: "hi" });
  assert.deepEqual((await gate.decide("write_file", { path: "/etc/motd", content: "hi" })).args, { path: "drafts/motd", content: "hi" });
  onAsk = () => edit({ path: 5 });
  assert.equal((await gate.decide("write_file", { path: "/etc/motd", content: "x" })).allowed, false, "an edit is judged again");
  onAsk = async () => {
    await sleep(2500);
    return yes();
  };
  const late = await gate.decide("send_mail", { ...mail, body: "late" });
  assert.equal(late.allowed, false);
  assert.equal(asked.at(-1)?.signal.aborted, true);
});

test("a streamed call is refused at the byte that decides, and asked while it arrives", async () => {
  const call = gate.call("delete_file");
  await call.feed('{"path":"');
  await call.decided;
  assert.equal(call.refused, true);
  assert.equal((await call.close()).status, "denied");
  asked.length = 0;
  onAsk = () => yes();
  const mail = gate.call("send_mail");
  await mail.feed('{"to":"anna@example.com",');
  while (asked.length === 0) await sleep(5);
  await mail.feed('"body":"streamed"}');
  const outcome = await mail.close();
  assert.deepEqual(outcome.args, { to: "anna@example.com", body: "streamed" });
  assert.deepEqual(asked.map(({ complete }) => complete), [false, true]);
  onAsk = () => no("not today");
  const refused = gate.call("send_mail");
  await refused.feed('{"to":"anna@example.com",');
  await refused.decided;
  assert.match((await refused.close()).modelText, /not today/);
});

test("results pass the result policy", async () => {
  const fetch = gate.wrap(({ page }: { page: string }) => `content of ${page}`, { name: "fetch" });
  assert.equal(await fetch({ page: "public" }), "content of public");
  await assert.rejects(fetch({ page: "private" }), (error: unknown) => error instanceof Denied && error.code === "result_withheld" && !error.message.includes("content of private"));
  const failing = gate.wrap((_: { city: string }): string => { throw new Error("no such city"); }, { name: "lookup" });
  await assert.rejects(failing({ city: "x" }), /no such city/);
  const outcome = await gate.decide("lookup", { city: "x" });
  await outcome.ran("sunny", { failed: false });
  await assert.rejects(outcome.ran("again"), (error: unknown) => error instanceof Problem && error.code === "unmatched_result");
});

test("sessions have data and texts of their own", async () => {
  const a = await gate.session({ data: { mode: "release" }, userText: "Pay anna@example.com please" });
  const b = await gate.session();
  await a.run(async () => {
    assert.equal((await gate.decide("deploy", { to: "prod" })).allowed, true);
    assert.equal((await gate.decide("pay", { to: "anna@example.com" })).allowed, true);
    assert.equal((await gate.decide("pay", { to: "mallory@example.com" })).allowed, false);
  });
  assert.equal((await gate.decide("deploy", { to: "prod" }, { session: b })).allowed, false);
  await b.setData({ mode: "release" });
  assert.equal((await gate.decide("deploy", { to: "prod" }, { session: b })).allowed, true);
  await b.user("Pay bob@example.com");
  await b.spoke();
  assert.equal((await gate.decide("pay", { to: "bob@example.com" }, { session: b })).allowed, true);
  const named = await gate.session({ id: "conversation-1", data: { mode: "release" } });
  assert.equal((await gate.decide("deploy", { to: "prod" }, { session: "conversation-1" })).allowed, true);
  assert.equal(named.key?.startsWith("sgk_"), true);
});

test("agents: only billing refunds", async () => {
  assert.equal((await gate.decide("refund", { order: "7" })).allowed, false);
  assert.equal((await gate.decide("refund", { order: "7" }, { agent: "billing" })).allowed, true);
});

test("every call is decided anew, also one with the ids of an earlier one", async () => {
  const options = { session: await gate.session(), turn: "t", callId: "c" };
  const ids = new Set<string>();
  for (const city of ["x", "x", "y"]) ids.add((await gate.decide("lookup", { city }, options)).id);
  assert.equal(ids.size, 3);
  const asks = asked.length;
  onAsk = () => yes();
  for (let i = 0; i < 2; i++) assert.equal((await gate.decide("send_mail", { to: "a", body: "twice" }, options)).allowed, true);
  assert.equal(asked.length, asks + 2, "a yes is for one call");
});

test("malformed arguments are denied, and what JavaScript cannot hold does not run", async () => {
  for (const [text, code] of [["{", "truncated_arguments"], ['{"city":"a","city":"b"}', "duplicate_key"], ['{"city":"\\ud800"}', "malformed_arguments"], ["[]", "non_object_root"]] as const) {
    assert.equal((await gate.decide("lookup", text)).code, code);
  }
  const big = '{"city":"x","days":12345678901234567890}';
  const outcome = await gate.decide("lookup", big);
  assert.equal(outcome.argsText, big);
  assert.throws(() => outcome.args, BadArguments);
  await assert.rejects(gate.run("lookup", big, () => assert.fail("it ran")), BadArguments);
});

test("long arguments are cut into frames between characters", async () => {
  for (const prefix of ["", "x"]) {
    const args = { city: prefix + "😀".repeat(700_000) };
    assert.equal((await gate.decide("lookup", args)).argsText, JSON.stringify(args));
    const call = gate.call("lookup");
    await call.feed(JSON.stringify(args));
    assert.equal((await call.close()).argsText, JSON.stringify(args));
  }
});

test("a thousand calls at once: none is lost or mixed up", async () => {
  const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? gate.decide("lookup", { city: `c${i}` }) : gate.decide("delete_file", { path: `p${i}` }))));
  outcomes.forEach((outcome, i) => (i % 2 === 0 ? assert.deepEqual(outcome.args, { city: `c${i}` }) : assert.equal(outcome.status, "denied")));
});

test("over HTTP with tokens: the same, questions are answered with the second one", async () => {
  const tokens = { PROGRAM_TOKEN: "0123456789abcdef0", ANNA_TOKEN: "fedcba98765432100" };
  const { address, kill } = await up(`${policy}\n[api]\nlisten = "127.0.0.1:0"\n[api.tokens.program]\nscopes = ["decide", "observe"]\nenv = "PROGRAM_TOKEN"\n[api.tokens.anna]\nscopes = ["approve"]\nenv = "ANNA_TOKEN"\n`, tokens);
  const remote = await connect(address, { token: tokens.PROGRAM_TOKEN, approveToken: tokens.ANNA_TOKEN, onAsk: (question) => (question.tool === "send_mail" ? yes() : no("not today")), timeout: 20_000 });
  assert.deepEqual((await remote.decide("lookup", { city: "Zürich" })).args, { city: "Zürich" });
  assert.equal((await remote.decide("delete_file", { path: "x" })).status, "denied");
  const mail = await remote.decide("send_mail", { to: "a", body: "b" });
  assert.deepEqual([mail.allowed, mail.approval?.by], [true, "anna"]);
  assert.match((await remote.decide("write_file", { path: "x", content: "y" })).modelText, /not today/);
  const call = remote.call("delete_file");
  await call.feed('{"path":"');
  await call.decided;
  assert.equal((await call.close()).status, "denied");
  assert.equal(await remote.run("fetch", { page: "public" }, ({ page }: { page: string }) => `content of ${page}`), "content of public");
  const outcomes = await Promise.all(Array.from({ length: 300 }, (_, i) => remote.decide("lookup", { city: `c${i}` })));
  outcomes.forEach((outcome, i) => assert.deepEqual(outcome.args, { city: `c${i}` }));
  const stranger = await connect(address, { token: "wrong", timeout: 20_000 });
  await assert.rejects(stranger.decide("lookup", { city: "x" }), (error: unknown) => error instanceof Problem && error.status === 401);
  kill();
  await assert.rejects(remote.decide("lookup", { city: "x" }), GateUnavailable);
  await Promise.all([remote.close(), stranger.close()]);
});

test("a redirect is not followed, and a proxy of the environment is not used", async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  process.env["http_proxy"] = process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
  const remote = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { timeout: 5000 });
  await assert.rejects(remote.decide("lookup", {}), BadAnswer);
  assert.equal(requests, 1);
  await remote.close();
  for (const address of ["unix:///tmp/x", "http://user@host", "http://host/?a=1", "ftp://host", "host", ""]) await assert.rejects(connect(address), BadArguments);
});

test("HTTPS: a certificate that nobody knows is refused, and one that is known is accepted", async () => {
  const directory = mkdtempSync(`${state}/tls`);
  const [key, certificate] = [`${directory}/key.pem`, `${directory}/certificate.pem`];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) => {
    response.writeHead(503, { "content-type": "application/problem+json" }).end('{"title":"x","status":503,"code":"unavailable"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  const address = `https://localhost:${(server.address() as AddressInfo).port}`;
  const remote = await connect(address, { timeout: 5000 });
  await assert.rejects(remote.decide("lookup", {}), (error: unknown) => error instanceof GateUnavailable && /certificate/.test(error.message));
  await remote.close();
  const index = fileURLToPath(new URL("../src/index.js", import.meta.url));
  const program = `import { connect } from ${JSON.stringify(index)}; const gate = await connect(${JSON.stringify(address)}); await gate.decide("lookup", {}).catch((error) => console.log(error.code)); await gate.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate } });
  assert.equal(stdout, "unavailable\n");
});

test("a gate that is killed while a tool runs: its result is not delivered; the next call starts another gate", async () => {
  await assert.rejects(gate.run("lookup", { city: "Rome" }, () => {
    killGates();
    return "sunny";
  }), (error: unknown) => error instanceof GateUnavailable || error instanceof Problem);
  const open = await begun();
  killGates();
  await assert.rejects(open.close(), (error: unknown) => error instanceof GateUnavailable || error instanceof BadAnswer);
});

/** A call that has a verdict. The gate that is being killed may take calls with it that were sent to it before it ended. */
async function begun(): Promise<Call> {
  for (let left = 20; ; left--) {
    const open = gate.call("lookup");
    try {
      await open.feed('{"city":');
      while ((await open.feed("")) === undefined) await sleep(5);
      return open;
    } catch (error) {
      if (left === 0 || !(error instanceof GateUnavailable || error instanceof BadAnswer)) throw error;
    }
  }
}
