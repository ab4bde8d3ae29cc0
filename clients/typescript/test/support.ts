// What the tests share.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { type Gate, local, type LocalOptions } from "../src/index.js";

/** A directory that is removed after the tests of the file. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "sg-ts-"));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A program that runs the fake relay in a mode. */
export function fakeBinary(mode = ""): string {
  const path = join(directory(), "stopgate");
  const relay = fileURLToPath(new URL("fake-relay.js", import.meta.url));
  writeFileSync(path, `#!/bin/sh\nFAKE='${mode}' exec '${process.execPath}' '${relay}'\n`, { mode: 0o755 });
  return path;
}

/** A gate object on the fake relay. */
export async function fakeGate(options: LocalOptions = {}): Promise<Gate> {
  const gate = await local({ binary: fakeBinary(), timeout: 5000, ...options });
  after(() => gate.close());
  return gate;
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
