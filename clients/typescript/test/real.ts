// The built program: STOPGATE_BINARY, or bin/stopgate of the checkout.
import { accessSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
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

/** Kills the gates that this file has started. */
export function killGates(): void {
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (line[1] === "serve" && line.some((argument) => argument.startsWith(`${state}/`))) process.kill(Number(pid), "SIGKILL");
    } catch {} // it has ended
  }
}
