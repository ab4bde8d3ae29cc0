/** The cases with the Vercel AI SDK and its own mock model. */
import { guard } from "@stopgate/client/adapters/ai";
import { generateText, isStepCount, jsonSchema, tool, type ToolSet } from "ai";
import { modelOf } from "./ai.model.js";
import { testCases, type Run } from "./driver.js";
import type { Declared } from "./tools.js";

testCases({
  host: "vercel-ai",
  title: "Vercel AI SDK",
  package: "ai",
  unable: { handoff: "no handoffs" },
  async run({ gate, session, script, tools, prompt }: Run) {
    const set: ToolSet = Object.fromEntries(tools.map((declared) => [declared.name, toolOf(declared)]));
    await generateText({ model: modelOf(script), tools: guard(gate, set, { session }), prompt, stopWhen: isStepCount(9) });
  },
});

function toolOf({ description, parameters, run }: Declared) {
  return tool({ description, inputSchema: jsonSchema<Record<string, unknown>>({ ...parameters }), execute: (args) => run(args) });
}
