/** The cases with the OpenAI Agents SDK and its own scripted model. */
import { Agent, handoff, Runner, tool } from "@openai/agents";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing";
import { guard } from "@stopgate/client/adapters/openai-agents";
import { testCases, type Run } from "./driver.js";
import { DONE, type Script } from "./script.js";
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

function modelOf(script: Script): ScriptedModel {
  const respond = modelResponder(({ request }) => {
    script.request(request.input);
    for (const item of typeof request.input === "string" ? [] : request.input) {
      if (item.type === "function_call_result") script.read(item.callId, textOf(item.output));
    }
    const calls = script.next();
    return calls.length === 0 ? [assistantMessage(DONE)] : calls.map((c) => functionCall(c.tool, { ...c.args }, { callId: c.id }));
  });
  return new ScriptedModel(Array.from({ length: script.turns.length + 1 }, () => respond));
}

function textOf(output: unknown): string {
  return typeof output === "string" ? output : ((output as { text?: string }).text ?? JSON.stringify(output));
}
