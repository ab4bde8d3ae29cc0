import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the types of the decision API are current", () => {
  const script = fileURLToPath(new URL("../../scripts/models.mjs", import.meta.url));
  assert.equal(execFileSync(process.execPath, [script, "--check"], { encoding: "utf8" }), "");
});
