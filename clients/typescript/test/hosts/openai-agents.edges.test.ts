/** What else must hold with the OpenAI Agents SDK. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, type MCPServer, Runner, tool, webSearchTool } from "@openai/agents";
import { yes } from "@stopgate/client";
import { guard } from "@stopgate/client/adapters/openai-agents";
import { call, ended, ran, reads, refused } from "./cases.js";
import { play, type Run } from "./driver.js";
import { modelOf } from "./openai-agents.model.js";
import type { Declared } from "./tools.js";

const runner = new Runner({ tracingDisabled: true });

test("the tools of an agent's MCP servers are judged", () =>
  play(
    {
      async run({ gate, session, script, tools, prompt }: Run) {
        const agent = new Agent({ name: "main", model: modelOf(script), mcpServers: [serverOf(tools)] });
        await runner.run(guard(gate, agent, { session }), prompt);
      },
    },
    {
      turns: [[call("c1", "lookup", { city: "Rome" }), call("c2", "delete_file", { path: "x" })]],
      check: (w) => {
        ended(w);
        ran(w, ["lookup", { city: "Rome" }]);
        reads(w, "c1", "sunny in Rome");
        refused(w, "c2", "delete_file", "No file is deleted here");
      },
    },
  ));

test("a call that the host has given up does not run when its question is answered", () =>
  play(
    {
      async run({ gate, session, script, tools, prompt }: Run) {
        const mail = tools.find(({ name }) => name === "send_mail")!;
        const slow = tool({ ...mail, strict: false, timeoutMs: 200, parameters: { ...mail.parameters, additionalProperties: true }, execute: (args) => mail.run(args as {}) });
        await runner.run(guard(gate, new Agent({ name: "main", model: modelOf(script), tools: [slow] }), { session }), prompt);
      },
    },
    {
      turns: [[call("c1", "send_mail", { to: "anna@example.com", body: "hello" })]],
      answer: yes(),
      delay: 800,
      check: (w) => {
        ended(w);
        ran(w);
        reads(w, "c1", "timed out");
      },
    },
  ));

test("tools that run at the provider are an error, unless they are named", () =>
  play(
    {
      async run({ gate, script, prompt }: Run) {
        const agent = () => new Agent({ name: "main", model: modelOf(script), tools: [webSearchTool()] });
        await assert.rejects(runner.run(guard(gate, agent()), prompt), /cannot decide calls of the hosted_tool tool web_search/);
        assert.equal((await runner.run(guard(gate, agent(), { unjudged: ["web_search"] }), prompt)).finalOutput, "done");
      },
    },
    { turns: [], check: ended },
  ));

function serverOf(tools: readonly Declared[]): MCPServer {
  return {
    name: "tools",
    cacheToolsList: false,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: { ...parameters, properties: { ...parameters.properties } } })),
    callTool: async (name, args) => [{ type: "text", text: await tools.find((t) => t.name === name)!.run(args ?? {}) }],
  };
}
