/** An MCP client whose tool calls the gate decides. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as stopgate from "@stopgate/client";
import { guard } from "@stopgate/client/adapters/mcp";
import { z } from "zod";
import * as shop from "./shop.js";

const text = (result: string) => ({ content: [{ type: "text" as const, text: result }] });
const order = z.string();
const server = new McpServer({ name: "shop", version: "1" });
server.registerTool("read_order", { description: "Reads an order", inputSchema: { order } }, (args) => text(shop.readOrder(args)));
server.registerTool("refund", { description: "Refunds an order", inputSchema: { order, amount: z.number().int() } }, (args) => text(shop.refund(args)));
const [transport, theirs] = InMemoryTransport.createLinkedPair();
await server.connect(theirs);

const gate = await stopgate.local({ policy: shop.POLICY, onAsk: shop.person });
const session = await gate.session({ userText: shop.MESSAGE });
const client = new Client({ name: "shop", version: "1" });
await client.connect(guard(gate, transport, { session }));
let last: unknown;
for (const { tool, args } of shop.SCRIPT) last = await client.callTool({ name: tool, arguments: { ...args } });
console.log("model:", (last as { content: { text: string }[] }).content[0]?.text);
await client.close();
await gate.close();
