/** An agent of LangChain whose tool calls the gate decides. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import * as stopgate from "@stopgate/client";
import { middleware } from "@stopgate/client/adapters/langchain";
import { createAgent, createMiddleware, tool } from "langchain";
import { z } from "zod";
import * as shop from "./shop.js";

const order = z.string();
const readOrder = tool(shop.readOrder, { name: "read_order", description: "Reads an order", schema: z.object({ order }) });
const refund = tool(shop.refund, { name: "refund", description: "Refunds an order", schema: z.object({ order, amount: z.number().int() }) });

/** Plays the script, and then repeats what it read last. */
class Model extends FakeStreamingChatModel {
  private played = 0;

  override bindTools() {
    return this;
  }

  override async _generate(messages: BaseMessage[]) {
    const call = shop.SCRIPT[this.played++];
    const tool_calls = call ? [{ id: call.id, name: call.tool, args: { ...call.args }, type: "tool_call" as const }] : [];
    const message = new AIMessage({ content: call ? "" : (messages.at(-1)?.text ?? ""), tool_calls });
    return { generations: [{ text: message.text, message }] };
  }
}

const gate = await stopgate.local({ policy: shop.POLICY, onAsk: shop.person });
const agent = createAgent({ model: new Model({}), tools: [readOrder, refund], middleware: [createMiddleware(middleware(gate))] });
const session = await gate.session({ userText: shop.MESSAGE });
const result = await session.run(() => agent.invoke({ messages: [{ role: "user", content: shop.MESSAGE }] }));
console.log("model:", result.messages.at(-1)?.text);
await gate.close();
