/** The cases with LangChain's createAgent, the agents of a handoff in a graph of LangGraph, and a scripted chat model. */
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { Command, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { middleware } from "@stopgate/client/adapters/langchain";
import { createAgent, createMiddleware, tool, type ToolRuntime } from "langchain";
import { testCases, type Run } from "./driver.js";
import { Scripted } from "./langchain.model.js";
import type { Declared } from "./tools.js";

testCases({
  host: "langchain",
  title: "LangChain, LangGraph",
  package: "langchain",
  unable: {},
  async run({ gate, session, script, tools, agents, prompt }: Run) {
    const messages = [{ role: "user", content: prompt }];
    const [first = "main"] = agents;
    const agentOf = (name: string) =>
      createAgent({
        name,
        model: new Scripted(script),
        tools: [...tools.map(toolOf), ...agents.filter((other) => other !== name).map(transferTo)],
        middleware: [createMiddleware(middleware(gate, { session, agent: name }))],
      });
    if (agents.length === 1) {
      await agentOf(first).invoke({ messages });
      return;
    }
    let graph = new StateGraph(MessagesAnnotation) as StateGraph<typeof MessagesAnnotation, unknown, unknown, string>;
    for (const name of agents) graph = graph.addNode(name, agentOf(name).graph, { ends: agents.filter((other) => other !== name) }) as never;
    await graph.addEdge("__start__", first).compile().invoke({ messages });
  },
});

function toolOf({ name, description, parameters, run }: Declared) {
  return tool((args) => run(args as Record<string, unknown>), { name, description, schema: parameters });
}

/** A handoff as LangGraph's documentation writes it: a tool whose result steers the graph. */
function transferTo(name: string) {
  const own = `transfer_to_${name}`;
  return tool(
    (_, { state, toolCallId }: ToolRuntime) => {
      const message = new ToolMessage({ content: `control passes to ${name}`, name: own, tool_call_id: toolCallId });
      const { messages } = state as { messages: BaseMessage[] };
      return new Command({ goto: name, graph: Command.PARENT, update: { messages: [messages.at(-1)!, message] } });
    },
    { name: own, description: `hands over to ${name}`, schema: { type: "object", properties: {}, required: [] } },
  );
}
