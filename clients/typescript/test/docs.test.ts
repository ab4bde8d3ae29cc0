// Runs what the pages show, with the package installed from its file: blocks with a name are files, console blocks are transcripts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { binary, state } from "./real.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const fence = /^```([a-z]*)(?: ([^\n ]+))?\n([\s\S]*?)^```$/gm;

for (const page of ["docs/typescript.md"]) {
  test(page, () => {
    const project = join(state, "docs");
    const modules = join(project, "node_modules/@stopgate/client");
    mkdirSync(modules, { recursive: true });
    cpSync(join(root, "package.json"), join(modules, "package.json"));
    cpSync(join(root, "dist"), join(modules, "dist"), { recursive: true });
    const path = `${dirname(process.execPath)}:/usr/bin:/bin:${join(project, "bin")}`;
    mkdirSync(join(project, "bin"));
    writeFileSync(join(project, "bin/stopgate"), `#!/bin/sh\nexec '${binary}' "$@"\n`, { mode: 0o755 });
    let transcripts = 0;
    for (const [, language, name, body = ""] of readFileSync(join(root, "../..", page), "utf8").matchAll(fence)) {
      if (name !== undefined) writeFileSync(join(project, name), body);
      else if (language === "console") {
        transcripts++;
        const [command = "", ...output] = body.split("\n");
        assert.equal(execFileSync("sh", ["-c", command.slice(2)], { cwd: project, encoding: "utf8", env: { ...process.env, PATH: path, HOME: state } }), output.join("\n"), command);
      }
    }
    assert.ok(transcripts > 0);
  });
}
