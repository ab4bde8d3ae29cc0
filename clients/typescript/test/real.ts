// The built program: STOPGATE_BINARY, or bin/stopgate of the checkout.
import { spawn } from "node:child_process";
import { accessSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { sleep } from "./support.js";
import { type Gate, local, type LocalOptions } from "../src/index.js";

export const binary = process.env["STOPGATE_BINARY"] ?? fileURLToPath(new URL("../../../../bin/stopgate", import.meta.url));
accessSync(binary);

/** The state of the gates of this file; the path of a socket must be short. */
export const state = mkdtempSync("/tmp/sg-");
process.env["XDG_STATE_HOME"] = state;
delete process.env["XDG_RUNTIME_DIR"];
after(() => {
  killGates();
  rmSync(state, { recursive: true, force: true });
});

/** Writes a policy file and returns its path. */
export function policyFile(text: string): string {
  const path = join(mkdtempSync(join(state, "p")), "stopgate.toml");
  writeFileSync(path, text);
  return path;
}

/** A gate object on a gate with this policy. */
export async function realGate(policy: string, options: LocalOptions = {}): Promise<Gate> {
  const file = policyFile(policy);
  const gate = await local({ binary, policy: file, project: join(file, ".."), timeout: 20_000, ...options });
  after(() => gate.close());
  return gate;
}

/** Starts `stopgate up` with tokens of their names and returns the address of its API, and a function that kills it. */
export async function up(policy: string, tokens: Readonly<Record<string, string>>): Promise<{ address: string; kill: () => void }> {
  const socket = join(mkdtempSync(join(state, "u")), "api.sock");
  const child = spawn(binary, ["up", "--policy", policyFile(policy), "--listen", "127.0.0.1:0", "--api-socket", socket], { env: { ...process.env, ...tokens }, stdio: ["ignore", "pipe", "pipe"] });
  after(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += part.toString()));
  for (let i = 0; i < 400; i++) {
    await sleep(50);
    const address = /"api":"(http:[^"]*)"/.exec(output)?.[1];
    if (address !== undefined) return { address, kill: () => child.kill("SIGKILL") };
  }
  throw new Error(`stopgate up did not start: ${output}`);
}

/** Kills the gates that this file has started. */
export function killGates(): void {
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (line[1] === "serve" && line.some((argument) => argument.startsWith(`${state}/`))) process.kill(Number(pid), "SIGKILL");
    } catch {} // it has ended
  }
}
