/** What else must hold with LangChain and LangGraph. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { guard, middleware } from "@stopgate/client/adapters/langchain";
import { type AgentMiddleware, createAgent, createMiddleware, tool, toolRetryMiddleware } from "langchain";
import { z } from "zod";
import { call, ended, ran, reads, refused } from "./cases.js";
import { play, type Run } from "./driver.js";
import { Scripted } from "./langchain.model.js";

const city = z.object({ city: z.string(), days: z.number().int().optional() });
const page = z.object({ page: z.string() });

test("a graph with a ToolNode of its own", () =>
  play(
    {
      async run({ gate, session, tools, script }: Run) {
        const guarded = tools.map(({ name, description, parameters, run }) => guard(gate, tool((args) => run(args as {}), { name, description, schema: parameters }), { session }));
        const tool_calls = script.next().map(({ id, tool, args }) => ({ id, name: tool, args: { ...args }, type: "tool_call" as const }));
        const { messages } = (await new ToolNode(guarded).invoke({ messages: [new AIMessage({ content: "", tool_calls })] })) as { messages: BaseMessage[] };
        assert.deepEqual(messages.map(({ type }) => type), ["tool", "tool"]);
        for (const message of messages) script.read((message as unknown as { tool_call_id: string }).tool_call_id, message.text);
        script.next();
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

test("the function of a guarded tool is judged, too", () =>
  play(
    {
      async run({ gate, session, tools, script }: Run) {
        const { run } = tools.find(({ name }) => name === "delete_file")!;
        const path = z.object({ path: z.string() });
        const guarded = guard(gate, tool((args) => run(args as {}), { name: "delete_file", description: "deletes", schema: path }), { session });
        const { func } = guarded as unknown as { func(args: object): Promise<unknown> };
        script.next();
        script.read("c1", String(await func({ path: "x" })));
        script.next();
      },
    },
    {
      turns: [[call("c1", "delete_file", { path: "x" })]],
      check: (w) => {
        ended(w);
        ran(w);
        refused(w, "c1", "delete_file", "No file is deleted here");
      },
    },
  ));

test("a tool that interrupts the graph goes on with the call that was judged", () =>
  play(
    {
      async run({ gate, session, tools, script, prompt }: Run) {
        const { run } = tools.find(({ name }) => name === "lookup")!;
        const lookup = tool(async (args) => run({ city: args.city, days: interrupt("how many days?") }), { name: "lookup", description: "weather", schema: city });
        const agent = createAgent({
          model: new Scripted(script),
          tools: [lookup],
          middleware: [createMiddleware(middleware(gate, { session }))],
          checkpointer: new MemorySaver(),
        });
        const config = { configurable: { thread_id: "1" } };
        await agent.invoke({ messages: [{ role: "user", content: prompt }] }, config);
        assert.equal(script.played, 1);
        await agent.invoke(new Command({ resume: 3 }), config);
      },
    },
    {
      turns: [[call("c1", "lookup", { city: "Rome" })]],
      check: (w) => {
        ended(w);
        ran(w, ["lookup", { city: "Rome", days: 3 }]);
        reads(w, "c1", "sunny in Rome for 3 days");
      },
    },
  ));

test("a call that the host tries again is judged again", () => {
  let attempts = 0;
  return play(
    {
      async run({ gate, session, tools, script, prompt }: Run) {
        const { run } = tools.find(({ name }) => name === "lookup")!;
        const flaky = tool((args) => (++attempts === 1 ? Promise.reject(new Error("no network")) : run(args)), { name: "lookup", description: "weather", schema: city });
        const retry = toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 }) as AgentMiddleware;
        const agent = createAgent({ model: new Scripted(script), tools: [flaky], middleware: [retry, createMiddleware(middleware(gate, { session }))] });
        await agent.invoke({ messages: [{ role: "user", content: prompt }] });
      },
    },
    {
      turns: [[call("c1", "lookup", { city: "Rome" })]],
      check: (w) => {
        ended(w);
        ran(w, ["lookup", { city: "Rome" }]);
        reads(w, "c1", "sunny in Rome");
        assert.equal(attempts, 2);
      },
    },
  );
});

test("a withheld result has no artifact, and what a tool yields is not passed on", () =>
  play(
    {
      async run({ gate, session, tools, script }: Run) {
        const { run } = tools.find(({ name }) => name === "fetch")!;
        const events: unknown[] = [];
        const fields = { name: "fetch", description: "a page", schema: page, responseFormat: "content_and_artifact" as const };
        const fetch = tool(async function* (args: z.infer<typeof page>) {
          const content = await run(args);
          yield content;
          return [content, { content }] as [string, unknown];
        } as never, fields);
        for (const { id, args } of script.next()) {
          const callbacks = [{ handleToolEvent: (event: unknown) => void events.push(event), handleToolEnd: (output: unknown) => void events.push(output) }];
          const message = (await guard(gate, fetch, { session }).invoke({ type: "tool_call", id, name: "fetch", args: args as never }, { callbacks })) as BaseMessage & { artifact?: unknown };
          script.read(id, message.text);
          script.request([message.toDict(), message.artifact ?? null, events]);
        }
        script.next();
      },
    },
    {
      turns: [[call("c1", "fetch", { page: "private" }), call("c2", "fetch", { page: "public" })]],
      check: (w) => {
        ended(w);
        reads(w, "c1", "is withheld");
        reads(w, "c2", "content of public");
        for (const request of w.script.requests) assert.ok(!request.includes("content of private"), request);
      },
    },
  ));
