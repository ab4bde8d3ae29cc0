/** The cases with the client of the official MCP SDK, and a server of the same SDK. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, CallToolResultSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { guard } from "@stopgate/client/adapters/mcp";
import { testCases, type Run } from "./driver.js";
import type { Declared } from "./tools.js";

testCases({
  host: "mcp",
  title: "MCP clients",
  package: "@modelcontextprotocol/sdk",
  unable: { handoff: "MCP has no agents" },
  async run({ gate, session, script, tools }: Run) {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await serverOf(tools).connect(theirs);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(guard(gate, ours, { session }));
    await client.listTools();
    for (let calls = script.next(); calls.length > 0; calls = script.next()) {
      const results = calls.map(async ({ id, tool, args }) => {
        const result = CallToolResultSchema.parse(await client.callTool({ name: tool, arguments: { ...args } }));
        script.request(result);
        script.read(id, result.content.map((block) => ("text" in block ? block.text : "")).join("\n"), result.isError === true);
      });
      const failed = (await Promise.allSettled(results)).find((settled) => settled.status === "rejected");
      if (failed) throw failed.reason;
    }
    await client.close();
  },
});

function serverOf(tools: readonly Declared[]): Server {
  const server = new Server({ name: "tools", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: { ...parameters } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new Error(`no tool ${params.name}`);
    return { content: [{ type: "text", text: await tool.run(params.arguments ?? {}) }] };
  });
  return server;
}
