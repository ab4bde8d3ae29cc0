/** What else must hold with the Claude Agent SDK: its own tools. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { guard } from "@stopgate/client/adapters/claude-agent-sdk";
import { call, ended, reads, refused, type Scene, type World } from "./cases.js";
import { play, type Run } from "./driver.js";
import { alone, provider } from "./provider.js";

const policy = `version = 1
[tools.Read.policy]
run = "unattended"
result = [{ arg = "/file_path", const = "/proc/self/cwd/notes.txt", mode = "unattended" }, { mode = "skip" }]
[tools.Bash.policy]
run = "unattended"
result = "skip"
[tools.Write.policy]
run = [{ mode = "deny", reason = "Nothing is written." }]
`;

/** Runs Claude Code in a directory with two files. */
const own = {
  run: ({ gate, session, script, prompt }: Run) =>
    provider(script, "", async (url) => {
      const cwd = join(process.env["HOME"]!, "project");
      writeFileSync(join(cwd, "secret.txt"), "the word is rosebud\n");
      writeFileSync(join(cwd, "notes.txt"), "the word is harmless\n");
      const options = { cwd, tools: ["Read", "Write", "Bash"], ...alone(url) };
      for await (const message of query({ prompt, options: guard(gate, options, { session }) })) void message;
    }),
};

const place = (name: string) => `/proc/self/cwd/${name}`;

function without(w: World, word: string): void {
  for (const request of w.script.requests) assert.ok(!request.includes(word), request);
}

const scene = (check: Scene["check"], ...turns: Scene["turns"]): Scene => ({ policy, turns, check });

test("tools of Claude Code are judged, and their results filtered", () => {
  let written = true;
  return play(
    {
      async run(run) {
        await own.run(run);
        written = existsSync(join(process.env["HOME"]!, "project", "new.txt"));
      },
    },
    scene(
      (w) => {
        ended(w);
        assert.equal(written, false);
        refused(w, "c1", "Write", "Nothing is written");
        reads(w, "c2", "harmless");
        reads(w, "c3", "is withheld");
        without(w, "rosebud");
      },
      [call("c1", "Write", { file_path: place("new.txt"), content: "x" })],
      [call("c2", "Read", { file_path: place("notes.txt") })],
      [call("c3", "Read", { file_path: place("secret.txt") })],
    ),
  );
});

test("the output of a command is withheld, and a failure whose text cannot be withheld ends the run", () =>
  play(own, scene(
    (w) => {
      reads(w, "c1", "withheld");
      assert.equal(w.script.played, 2, "the model was asked after the failure");
      without(w, "rosebud");
    },
    [call("c1", "Bash", { command: "cat secret.txt", description: "reads" })],
    [call("c2", "Bash", { command: "cat secret.txt; exit 3", description: "fails" })],
  )));

test("other hooks that could change a call are an error", () => {
  const hook = { hooks: [async () => ({})] };
  assert.throws(() => guard({} as never, { hooks: { PreToolUse: [hook] } }), /could change a judged call/);
  assert.deepEqual(Object.keys(guard({} as never, { hooks: { Stop: [hook] } }).hooks), ["Stop", "PreToolUse", "PreSkillShellCommand", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit"]);
});
