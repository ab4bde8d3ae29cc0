/** The mock model of the Vercel AI SDK, playing a Script. */
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { DONE, type Script } from "./script.js";

type Prompt = MockLanguageModelV4["doGenerateCalls"][number]["prompt"];

export function modelOf(script: Script): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const calls = callsOf(script, prompt);
      return { content: calls.length === 0 ? [{ type: "text", text: DONE }] : calls, ...endOf(calls), warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const calls = callsOf(script, prompt);
      const text = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: DONE }, { type: "text-end", id: "1" }] as const;
      return { stream: convertArrayToReadableStream([...(calls.length === 0 ? text : calls), { type: "finish", ...endOf(calls) }]) };
    },
  });
}

/** Logs a request, and returns the calls of the next turn. */
function callsOf(script: Script, prompt: Prompt) {
  script.request(prompt);
  for (const message of prompt) {
    if (message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type !== "tool-result") continue;
      const { output } = part;
      script.read(part.toolCallId, "value" in output ? String(output.value) : "", output.type.startsWith("error"));
    }
  }
  return script.next().map(({ id, tool, args }) => ({ type: "tool-call" as const, toolCallId: id, toolName: tool, input: JSON.stringify(args) }));
}

function endOf(calls: readonly unknown[]) {
  return {
    finishReason: { unified: calls.length === 0 ? ("stop" as const) : ("tool-calls" as const), raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
  };
}
