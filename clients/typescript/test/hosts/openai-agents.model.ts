/** The scripted model of the OpenAI Agents SDK, playing a Script. */
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents/testing";
import { DONE, type Script } from "./script.js";

export function modelOf(script: Script): ScriptedModel {
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
