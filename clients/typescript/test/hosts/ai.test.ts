/** The cases with the Vercel AI SDK and its own mock model. */
import { guard } from "@stopgate/client/adapters/ai";
import { generateText, jsonSchema, stepCountIs, tool, type ToolSet } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { testCases, type Run } from "./driver.js";
import { DONE, type Script } from "./script.js";
import type { Declared } from "./tools.js";

testCases({
  host: "vercel-ai",
  title: "Vercel AI SDK",
  package: "ai",
  unable: { handoff: "no handoffs" },
  async run({ gate, session, script, tools, prompt }: Run) {
    const set: ToolSet = Object.fromEntries(tools.map((declared) => [declared.name, toolOf(declared)]));
    await generateText({ model: modelOf(script), tools: guard(gate, set, { session }), prompt, stopWhen: stepCountIs(9) });
  },
});

function toolOf({ description, parameters, run }: Declared) {
  return tool({ description, inputSchema: jsonSchema<Record<string, unknown>>({ ...parameters }), execute: (args) => run(args) });
}

function modelOf(script: Script): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      script.request(prompt);
      for (const message of prompt) {
        if (message.role !== "tool") continue;
        for (const part of message.content) {
          if (part.type !== "tool-result") continue;
          const { output } = part;
          script.read(part.toolCallId, "value" in output ? String(output.value) : "", output.type.startsWith("error"));
        }
      }
      const calls = script.next();
      return {
        content: calls.length === 0
          ? [{ type: "text", text: DONE }]
          : calls.map((c) => ({ type: "tool-call" as const, toolCallId: c.id, toolName: c.tool, input: JSON.stringify(c.args) })),
        finishReason: { unified: calls.length === 0 ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
}
