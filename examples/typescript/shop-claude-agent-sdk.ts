/** An agent of the Claude Agent SDK whose tool calls the gate decides. It needs a key, or a server in ANTHROPIC_BASE_URL. */
import { createSdkMcpServer, type Options, query, tool } from "@anthropic-ai/claude-agent-sdk";
import * as stopgate from "@stopgate/client";
import { guard } from "@stopgate/client/adapters/claude-agent-sdk";
import { z } from "zod";
import * as shop from "./shop.js";

const text = (result: string) => ({ content: [{ type: "text" as const, text: result }] });
const order = z.string();
const readOrder = tool("read_order", "Reads an order", { order }, async (args) => text(shop.readOrder(args)));
const refund = tool("refund", "Refunds an order", { order, amount: z.number().int() }, async (args) => text(shop.refund(args)));

const server = createSdkMcpServer({ name: "shop", tools: [readOrder, refund] });
const options: Options = { mcpServers: { shop: server }, tools: [], settingSources: [], systemPrompt: "You work for a shop." };

const gate = await stopgate.local({ policy: shop.POLICY, onAsk: shop.person });
const session = await gate.session({ userText: shop.MESSAGE });
for await (const message of query({ prompt: shop.MESSAGE, options: guard(gate, options, { session, own: ["shop"] }) })) {
  if (message.type === "result" && message.subtype === "success") console.log("model:", message.result);
}
await gate.close();
