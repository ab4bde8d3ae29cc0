import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { state, up } from "./real.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packed = join(state, "packed");
const project = join(state, "project");

const policy = 'version = 1\n[tools.greet.policy]\nrun = "unattended"\n[tools.remove.policy]\nrun = [{ mode = "deny", reason = "Nothing is removed." }]\n';

const gate = await up(`${policy}[api]\nlisten = "127.0.0.1:0"\n[api.tokens.program]\nscopes = ["decide", "observe"]\nenv = "PROGRAM_TOKEN"\n`, { PROGRAM_TOKEN: "0123456789abcdef0" });

// The packages of the program: make -C clients programs.
const programs = process.env["STOPGATE_PACKAGES"] ?? join(root, "../build/packages");
const version = "1.2.0-3-gabc1234";

const pack = (out: string): unknown => execFileSync(process.execPath, [join(root, "scripts/pack.mjs"), "--version", version, "--out", out]);

test("the packages are the same bytes twice, and the client is small", () => {
  pack(packed);
  pack(`${packed}2`);
  const name = `stopgate-client-${version}.tgz`;
  assert.deepEqual(readdirSync(packed), [name]);
  assert.ok(readFileSync(join(packed, name)).equals(readFileSync(join(`${packed}2`, name))), name);
  assert.ok(statSync(join(packed, name)).size < 60_000);
});

test("a fresh project installs from the files, offline", () => {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"name":"fresh","private":true,"type":"module"}\n');
  const files = [join(packed, `stopgate-client-${version}.tgz`), join(programs, `stopgate-cli-${process.platform}-${process.arch}-${version}.tgz`)];
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--cache", join(state, "cache"), ...files], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  assert.deepEqual(readdirSync(join(project, "node_modules/@stopgate")).sort(), [`cli-${process.platform}-${process.arch}`, "client"]);
  writeFileSync(join(project, "stopgate.toml"), policy);
});

test("a strict program compiles against the types, which need no skipLibCheck", () => {
  const program = `
import { local, type Outcome, Denied, type models } from "@stopgate/client";
await using gate = await local({ onAsk: (question) => (question.complete ? { answer: "approve" } : undefined) });
const greet = gate.wrap(({ name }: { name: string }, times: number) => name.repeat(times), { name: "greet" });
const text: string = await greet({ name: "anna" }, 2);
const outcome: Outcome = await gate.decide("greet", { name: text });
const mode: models.Mode = outcome.mode;
try { outcome.args; } catch (error) { if (error instanceof Denied) console.log(mode, error.code); }
for await (const event of gate.stream((async function* () { yield { type: "ping" }; })())) { const type: string = event.type; console.log(type); }
// @ts-expect-error a name is a string
await greet({ name: 1 }, 2);
`;
  writeFileSync(join(project, "program.mts"), program);
  for (const module of ["NodeNext", "Preserve"]) {
    const resolution = module === "Preserve" ? "bundler" : module;
    execFileSync(join(root, "node_modules/.bin/tsc"), ["--noEmit", "--strict", "--target", "ES2022", "--lib", "ES2024,ESNext.Disposable,DOM", "--types", "node", "--typeRoots", join(root, "node_modules/@types"), "--module", module, "--moduleResolution", resolution, "program.mts"], { cwd: project, stdio: ["ignore", "inherit", "inherit"] });
  }
});

const example = `
import * as stopgate from "@stopgate/client";
const gate = await stopgate.local({ policy: "stopgate.toml" });
const greet = gate.wrap(function greet({ name }) { return "hello " + name; });
const remove = gate.wrap(function remove() { console.log("removed"); }, { onDenied: "return" });
console.log(await greet({ name: "anna" }));
console.log(await remove({ path: "/" }));
const call = gate.call("remove");
for (let i = 0; !call.refused; i++) { await call.feed(i === 0 ? '{"path":"' : "x"); await new Promise((resolve) => setTimeout(resolve, 1)); }
console.log((await call.close()).code);
const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => greet({ name: i })));
console.log(answers.every((answer, i) => answer === "hello " + i));
`;

// A proxy of the environment leads nowhere; the gate is reached without it.
const remote = `
import * as stopgate from "@stopgate/client";
const gate = await stopgate.connect(process.env.GATE, { token: "0123456789abcdef0", timeout: 10_000 });
console.log((await gate.decide("greet", { name: "anna" })).argsText);
const call = gate.call("remove");
for (let i = 0; !call.refused; i++) { await call.feed(i === 0 ? '{"path":"' : "x"); await new Promise((resolve) => setTimeout(resolve, 1)); }
console.log((await call.close()).code);
const whole = gate.call("greet");
for (const part of ['{"name":', '"a', 'nna"}']) await whole.feed(part);
console.log((await whole.close()).argsText);
const outcomes = await Promise.all(Array.from({ length: 200 }, (_, i) => gate.decide("greet", { name: i })));
console.log(outcomes.every((outcome, i) => outcome.args.name === i));
await gate.close();
`;

for (const [runtime, command] of [
  ["Node", [process.execPath]],
  ["Bun", [join(root, "node_modules/.bin/bun")]],
  ["Deno", [join(root, "node_modules/.bin/deno"), "run", "--allow-all", "--quiet"]],
] as const) {
  test(`the example runs in ${runtime}, and ends by itself`, async () => {
    assert.equal(await run(command, example), "hello anna\n[stopgate] The tool call `remove` was not run: Nothing is removed (rule_matched).\nrule_matched\ntrue\n");
  });

  test(`a remote gate from ${runtime}`, async () => {
    const nowhere = "http://127.0.0.1:1";
    assert.equal(await run(command, remote, { GATE: gate.address, HTTP_PROXY: nowhere, http_proxy: nowhere, ALL_PROXY: nowhere, NODE_USE_ENV_PROXY: "1" }), '{"name":"anna"}\nrule_matched\n{"name":"anna"}\ntrue\n');
  });
}

/** Runs a program in the project and returns its output. */
async function run(command: readonly string[], text: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const path = join(project, "example.mjs");
  writeFileSync(path, text);
  const [program = "", ...args] = command;
  const { stdout } = await promisify(execFile)(program, [...args, path], { cwd: project, timeout: 30_000, env: { ...process.env, PATH: "/usr/bin:/bin", HOME: state, ...env } });
  return stdout;
}
