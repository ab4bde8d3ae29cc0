import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { binary, state } from "./real.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packed = join(state, "packed");
const project = join(state, "project");

// The package of the program has a script that starts the built program: packing the program itself takes long.
const starter = join(state, "starter");
writeFileSync(starter, `#!/bin/sh\nexec '${binary}' "$@"\n`);

const pack = (out: string): unknown => execFileSync(process.execPath, [join(root, "scripts/pack.mjs"), "--version", "v1.2.3-4-gabcdef", "--out", out, `${process.platform}-${process.arch}=${starter}`]);

test("the packages are the same bytes twice, and the client is small", () => {
  pack(packed);
  pack(`${packed}2`);
  const names = readdirSync(packed).sort();
  assert.deepEqual(names, [`stopgate-cli-${process.platform}-${process.arch}-1.2.3-4-gabcdef.tgz`, "stopgate-client-1.2.3-4-gabcdef.tgz"]);
  for (const name of names) assert.ok(readFileSync(join(packed, name)).equals(readFileSync(join(`${packed}2`, name))), name);
  assert.ok(statSync(join(packed, names[1] ?? "")).size < 60_000);
});

test("a fresh project installs from the files, offline", () => {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"name":"fresh","private":true,"type":"module"}\n');
  const files = readdirSync(packed).map((name) => join(packed, name));
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--cache", join(state, "cache"), ...files], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  assert.deepEqual(readdirSync(join(project, "node_modules/@stopgate")).sort(), [`cli-${process.platform}-${process.arch}`, "client"]);
  writeFileSync(join(project, "stopgate.toml"), 'version = 1\n[tools.greet.policy]\nrun = "unattended"\n[tools.remove.policy]\nrun = [{ mode = "deny", reason = "Nothing is removed." }]\n');
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

for (const [runtime, command] of [
  ["Node", [process.execPath]],
  ["Bun", [join(root, "node_modules/.bin/bun")]],
  ["Deno", [join(root, "node_modules/.bin/deno"), "run", "--allow-all", "--quiet"]],
] as const) {
  test(`the example runs in ${runtime}, and ends by itself`, async () => {
    const path = join(project, "example.mjs");
    writeFileSync(path, example);
    const [program = "", ...args] = command;
    const { stdout } = await promisify(execFile)(program, [...args, path], { cwd: project, timeout: 30_000, env: { ...process.env, PATH: "/usr/bin:/bin", HOME: state } });
    assert.equal(stdout, "hello anna\n[stopgate] The tool call `remove` was not run: Nothing is removed (rule_matched).\nrule_matched\ntrue\n");
  });
}
