#!/usr/bin/env node
// Runs the program stopgate of the package for this system in the place of this one: its streams, its
// signals and its exit status are those of this process.
"use strict";
const { spawn } = require("node:child_process");

const name = `@stopgate/cli-${process.platform}-${process.arch}`;
// Agents take any other status of a hook that cannot run for a yes.
const failed = process.argv[2] === "hook" ? 2 : 1;

function fail(why) {
  console.error(`stopgate: ${why}`);
  process.exit(failed);
}

let program;
try {
  program = require.resolve(`${name}/bin/stopgate`);
} catch {
  fail(`the package ${name} is not installed: install @stopgate/cli again, with its optional dependencies, on a system that it supports (Linux or macOS, x64 or arm64)`);
}

// A terminal sends its signals to the program too.
process.on("SIGINT", () => {});
process.on("SIGQUIT", () => {});
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", argv0: "stopgate" });
const pass = (signal) => child.kill(signal);
process.on("SIGTERM", pass);
process.on("SIGHUP", pass);
child.on("error", (error) => fail(error.message));
child.on("exit", (code, signal) => {
  if (code !== null) process.exit(code);
  if (failed === 2) fail(`ended by ${signal}`);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
