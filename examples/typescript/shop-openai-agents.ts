/** An agent of the OpenAI Agents SDK whose tool calls the gate decides. */
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing";
import * as stopgate from "@stopgate/client";
import { guard } from "@stopgate/client/adapters/openai-agents";
import { z } from "zod";
import * as shop from "./shop.js";

setTracingDisabled(true);

const order = z.string();
const readOrder = tool({ name: "read_order", description: "Reads an order", parameters: z.object({ order }), execute: shop.readOrder });
const refund = tool({ name: "refund", description: "Refunds an order", parameters: z.object({ order, amount: z.number().int() }), execute: shop.refund });

const lastWords = modelResponder(({ request }) => {
  const item = request.input.at(-1) as { output?: { text?: string } };
  return [assistantMessage(item.output?.text ?? "")];
});
const model = new ScriptedModel([...shop.SCRIPT.map(({ id, tool, args }) => [functionCall(tool, { ...args }, { callId: id })]), lastWords]);

const gate = await stopgate.local({ policy: shop.POLICY, onAsk: shop.person });
const agent = guard(gate, new Agent({ name: "shop", model, tools: [readOrder, refund] }));
const session = await gate.session({ userText: shop.MESSAGE });
const result = await session.run(() => run(agent, shop.MESSAGE));
console.log("model:", result.finalOutput);
await gate.close();
