/** What else must hold with the Vercel AI SDK. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { guard } from "@stopgate/client/adapters/ai";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import { modelOf } from "./ai.model.js";
import { call, ended, ran, reads, refused } from "./cases.js";
import { play, type Run } from "./driver.js";

test("a streamed answer", () =>
  play(
    {
      async run({ gate, session, script, tools, prompt }: Run) {
        const { run } = tools.find(({ name }) => name === "delete_file")!;
        const set = { delete_file: tool({ description: "deletes a file", inputSchema: z.object({ path: z.string() }), execute: (args) => run(args) }) };
        const result = streamText({ model: modelOf(script), tools: guard(gate, set, { session }), prompt, stopWhen: isStepCount(9) });
        for await (const part of result.textStream) assert.equal(part, "done");
      },
    },
    {
      turns: [[call("c1", "delete_file", { path: "x" })]],
      check: (w) => {
        ended(w);
        ran(w);
        refused(w, "c1", "delete_file", "No file is deleted here");
      },
    },
  ));

test("outputs that a tool yields, and its own form of an output, are judged first", () =>
  play(
    {
      async run({ gate, session, script, tools, prompt }: Run) {
        const { run } = tools.find(({ name }) => name === "fetch")!;
        const fetch = tool({
          description: "a page",
          inputSchema: z.object({ page: z.string() }),
          async *execute(args) {
            yield { page: "loading" };
            yield { page: await run(args) };
          },
          toModelOutput: ({ output }) => ({ type: "text", value: `page: ${output.page.toUpperCase()}` }),
        });
        const result = await generateText({ model: modelOf(script), tools: guard(gate, { fetch }, { session }), prompt, stopWhen: isStepCount(9) });
        assert.doesNotMatch(JSON.stringify(result.steps), /content of private/);
      },
    },
    {
      turns: [[call("c1", "fetch", { page: "public" })], [call("c2", "fetch", { page: "private" })]],
      check: (w) => {
        ended(w);
        ran(w, ["fetch", { page: "public" }], ["fetch", { page: "private" }]);
        reads(w, "c1", "page: CONTENT OF PUBLIC");
        reads(w, "c2", "withheld");
      },
    },
  ));

test("tools that run elsewhere are an error, unless they are named", () =>
  play(
    {
      async run({ gate, script }: Run) {
        const set = { confirm: tool({ description: "asks in the browser", inputSchema: z.object({}) }) };
        assert.throws(() => guard(gate, set), /no execute function/);
        assert.equal(guard(gate, set, { unjudged: ["confirm"] }).confirm, set.confirm);
        script.next();
      },
    },
    { turns: [], check: ended },
  ));

test("rules for every declared tool hold for the tools of a program", () =>
  play(
    {
      async run({ gate, script, tools, prompt }: Run) {
        const { run } = tools.find(({ name }) => name === "lookup")!;
        const set = { lookup: tool({ description: "weather", inputSchema: z.object({ city: z.string() }), execute: (args) => run(args) }) };
        await generateText({ model: modelOf(script), tools: guard(gate, set), prompt, stopWhen: isStepCount(9) });
      },
    },
    {
      policy: 'version = 1\n[tools."*".policy]\nrun = [{ arg = "/city", const = "Rome", mode = "unattended" }, { mode = "deny" }]\n',
      turns: [[call("c1", "lookup", { city: "Rome" }), call("c2", "lookup", { city: "Oslo" })]],
      check: (w) => {
        ended(w);
        ran(w, ["lookup", { city: "Rome" }]);
      },
    },
  ));
