/** A call of the Vercel AI SDK whose tool calls the gate decides. */
import * as stopgate from "@stopgate/client";
import { guard } from "@stopgate/client/adapters/ai";
import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import * as shop from "./shop.js";

const order = z.string();
const tools = {
  read_order: tool({ description: "Reads an order", inputSchema: z.object({ order }), execute: shop.readOrder }),
  refund: tool({ description: "Refunds an order", inputSchema: z.object({ order, amount: z.number().int() }), execute: shop.refund }),
};

/** Plays the script, and then repeats what it read last. */
let played = 0;
const model = new MockLanguageModelV4({
  async doGenerate({ prompt }) {
    const call = shop.SCRIPT[played++];
    const last = prompt.at(-1)?.content[0] as { output?: { value?: string } };
    return {
      content: call
        ? [{ type: "tool-call", toolCallId: call.id, toolName: call.tool, input: JSON.stringify(call.args) }]
        : [{ type: "text", text: last.output?.value ?? "" }],
      finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined },
      usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
      warnings: [],
    };
  },
});

const gate = await stopgate.local({ policy: shop.POLICY, onAsk: shop.person });
const session = await gate.session({ userText: shop.MESSAGE });
const result = await generateText({ model, tools: guard(gate, tools, { session }), prompt: shop.MESSAGE, stopWhen: isStepCount(9) });
console.log("model:", result.text);
await gate.close();
