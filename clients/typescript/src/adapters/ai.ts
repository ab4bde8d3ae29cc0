/**
 * Vercel AI SDK (`ai`), for generateText, streamText and agents:
 *
 *	generateText({ model, tools: guard(gate, tools), prompt });
 */
import type { Gate } from "../index.js";
import { declared, judged, Refusal, type Settings, textOf } from "./judged.js";

interface Options {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}
interface ToolLike {
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  execute?(input: unknown, options: Options): unknown;
  toModelOutput?(options: { readonly output: unknown }): unknown;
}

/** Settings of [guard]. */
export interface ToolSettings extends Settings {
  /** Names of tools without execute, which run elsewhere without a decision of the gate; any other one is an error. */
  readonly unjudged?: readonly string[];
}

/** Returns the tools with the gate around their execute functions. A refused call has the refusal as its output, a text. */
export function guard<T extends Readonly<Record<string, object>>>(gate: Gate, tools: T, settings: ToolSettings = {}): T {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, guardTool(gate, name, tool, settings)])) as T;
}

function guardTool(gate: Gate, name: string, tool: ToolLike, { unjudged, ...settings }: ToolSettings): ToolLike {
  const { execute, toModelOutput } = tool;
  const definition = declared(tool.description, tool.inputSchema);
  if (execute === undefined) {
    if (unjudged?.includes(name)) return tool;
    throw new TypeError(`stopgate cannot decide calls of the tool ${name}, which has no execute function: remove it, or name it in unjudged`);
  }
  return {
    ...tool,
    async execute(input, options) {
      const args = (input ?? {}) as Record<string, unknown>;
      const call = { ...settings, tool: name, args, definition, callId: options.toolCallId, signal: options.abortSignal };
      const result = await judged(gate, call, async ({ args }) => last(await execute.call(tool, args, options)), textOf);
      return result instanceof Refusal ? result.text : result;
    },
    // The tool's own function expects an output of the tool.
    ...(toModelOutput && {
      toModelOutput: (options) => (isRefusal(options.output) ? { type: "text", value: options.output } : toModelOutput.call(tool, options)),
    }),
  };
}

function isRefusal(output: unknown): boolean {
  return typeof output === "string" && output.startsWith("[stopgate] ");
}

/** Returns the last one of several outputs: the earlier ones are not passed on before the result is judged. */
async function last(result: unknown): Promise<unknown> {
  if (typeof (result as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator] !== "function") return result;
  let output: unknown;
  for await (const part of result as AsyncIterable<unknown>) output = part;
  return output;
}
