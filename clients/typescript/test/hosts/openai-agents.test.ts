/** The cases with the OpenAI Agents SDK and its own scripted model. */
import { Agent, handoff, Runner, tool } from "@openai/agents";
import { guard } from "@stopgate/client/adapters/openai-agents";
import { testCases, type Run } from "./driver.js";
import { modelOf } from "./openai-agents.model.js";
import type { Declared } from "./tools.js";

testCases({
  host: "openai-agents",
  title: "OpenAI Agents SDK",
  package: "@openai/agents",
  unable: {},
  async run({ gate, session, script, tools, agents, prompt }: Run) {
    const [first = "main", ...others] = agents;
    const all = { tools: tools.map(toolOf), model: modelOf(script) };
    const agent = new Agent({ name: first, ...all, handoffs: others.map((name) => handoff(new Agent({ name, ...all }))) });
    const runner = new Runner({ tracingDisabled: true });
    await runner.run(guard(gate, agent, { session }), prompt);
  },
});

function toolOf({ name, description, parameters, run }: Declared) {
  return tool({ name, description, strict: false, parameters: { ...parameters, additionalProperties: true }, execute: (args) => run(args as Record<string, unknown>) });
}
