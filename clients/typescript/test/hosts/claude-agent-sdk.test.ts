/** The cases with the Claude Agent SDK, the Claude Code that it contains, and a scripted provider. */
import { createSdkMcpServer, query, tool, type Options } from "@anthropic-ai/claude-agent-sdk";
import { guard } from "@stopgate/client/adapters/claude-agent-sdk";
import { z } from "zod";
import { testCases, type Run } from "./driver.js";
import { alone, provider } from "./provider.js";
import type { Declared } from "./tools.js";

testCases({
  host: "claude-agent-sdk",
  title: "Claude Agent SDK",
  package: "@anthropic-ai/claude-agent-sdk",
  unable: { handoff: "sub-agents, no handoffs", skip: "host marks it as an error" },
  async run({ gate, session, script, tools, prompt }: Run) {
    await provider(script, "mcp__tools__", async (url) => {
      const options: Options = {
        mcpServers: { tools: createSdkMcpServer({ name: "tools", version: "1", tools: tools.map(toolOf) }) },
        tools: [],
        ...alone(url),
      };
      for await (const message of query({ prompt, options: guard(gate, options, { session, own: ["tools"] }) })) {
        if (message.type === "result" && message.is_error) throw new Error(JSON.stringify(message));
      }
    });
  },
});

function toolOf({ name, description, parameters, run }: Declared) {
  const shape = Object.entries(parameters.properties).map(([key, { type }]) => {
    const schema = type === "integer" ? z.number().int() : z.string();
    return [key, parameters.required.includes(key) ? schema : schema.optional()];
  });
  return tool(name, description, Object.fromEntries(shape), async (args) => ({ content: [{ type: "text", text: await run(args) }] }));
}
