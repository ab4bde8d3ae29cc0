/** What else must hold with clients of the official MCP SDK. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { yes } from "@stopgate/client";
import { guard } from "@stopgate/client/adapters/mcp";
import { z } from "zod";
import { ended, ran } from "./cases.js";
import { play, type Run } from "./driver.js";

const lookup = { city: z.string(), days: z.number().int().optional() };

/** Connects a client through the gate with a server whose tools have the shapes of their arguments and of their output. */
async function connected({ gate, session, tools }: Run, shapes: Record<string, z.ZodRawShape>, settings: { server?: string } = {}): Promise<Client> {
  const server = new McpServer({ name: "tools", version: "1" });
  for (const { name, run } of tools) {
    const inputSchema = shapes[name];
    if (!inputSchema) continue;
    server.registerTool(name, { inputSchema, outputSchema: { text: z.string() } }, async (args: Record<string, unknown>) => {
      const text = await run(args);
      return { content: [{ type: "text", text }], structuredContent: { text } };
    });
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(guard(gate, ours, { session, ...settings }));
  if (Object.keys(shapes).length > 0) await client.listTools();
  return client;
}

const text = (result: unknown): string => (result as { content: { text: string }[] }).content.map((block) => block.text).join("\n");

test("a call that is cancelled while its question waits is not sent", () =>
  play(
    {
      async run(run: Run) {
        const client = await connected(run, { send_mail: { to: z.string(), body: z.string() } });
        const args = { name: "send_mail", arguments: { to: "anna@example.com", body: "hello" } };
        await assert.rejects(client.callTool(args, undefined, { timeout: 200 }), /timed out/);
        await sleep(1000);
        run.script.next();
      },
    },
    {
      turns: [],
      answer: yes(),
      delay: 600,
      check: (w) => {
        ended(w);
        ran(w);
        assert.equal(w.questions.length, 1);
      },
    },
  ));

test("tools with structured results", () =>
  play(
    {
      async run(run: Run) {
        const client = await connected(run, { lookup, notify: { text: z.string() }, fetch: { page: z.string() } });
        const allowed = await client.callTool({ name: "lookup", arguments: { city: "Rome" } });
        assert.deepEqual(allowed.structuredContent, { text: "sunny in Rome for 1 days" });
        const skipped = await client.callTool({ name: "notify", arguments: { text: "hello" } });
        assert.match(text(skipped), /Notifications are off/);
        const withheld = await client.callTool({ name: "fetch", arguments: { page: "private" } });
        assert.doesNotMatch(JSON.stringify(withheld), /content of private/);
        assert.match(text(withheld), /withheld/);
        run.script.next();
      },
    },
    { turns: [], check: ended },
  ));

test("errors of the protocol, tasks, and tools of a named server", () =>
  play(
    {
      async run(run: Run) {
        const client = await connected(run, { lookup }, { server: "tools" });
        const result = await client.callTool({ name: "lookup", arguments: { city: "Rome" } });
        assert.match(text(result), /\[stopgate\] The tool call `tools__lookup` was not run/);
        await assert.rejects(client.request({ method: "tools/call", params: { name: "lookup", arguments: {}, task: {} } }, z.any() as never), /cannot judge the result of a task/);
        const other = await connected(run, {});
        await assert.rejects(other.callTool({ name: "lookup", arguments: { city: "Rome" } }), /-32601|not found/i);
        run.script.next();
      },
    },
    {
      turns: [],
      check: (w) => {
        ended(w);
        ran(w);
      },
    },
  ));
