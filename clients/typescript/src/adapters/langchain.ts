/**
 * LangChain and LangGraph (`langchain`, `@langchain/langgraph`). A middleware covers all tools of an agent; the tools of a
 * graph of one's own are guarded one by one:
 *
 *	createAgent({ model, tools, middleware: [createMiddleware(middleware(gate))] });
 *	new ToolNode(tools.map((tool) => guard(gate, tool)));
 */
import type { Gate } from "../index.js";
import { declared, judged, Refusal, type Settings, textOf } from "./judged.js";

/** The parts of a tool that the adapter uses: every subclass of StructuredTool has them. */
export interface ToolLike {
  readonly name: string;
  readonly description?: string;
  readonly schema?: unknown;
  readonly responseFormat?: string;
}
interface Config {
  readonly toolCall?: { readonly id?: string };
  readonly signal?: AbortSignal;
}
type Run = (args: unknown, manager: unknown, config?: Config) => unknown;

const guarded = new WeakSet<object>();

/**
 * Returns the tool with the gate around its function: every way to call the tool leads there, and the host changes the
 * arguments no more. A refused call has the refusal as its result.
 */
export function guard<T extends ToolLike>(gate: Gate, tool: T, settings: Settings = {}): T {
  if (guarded.has(tool)) return tool;
  const run = (tool as { readonly _call?: Run })._call;
  if (typeof run !== "function") throw new TypeError(`stopgate cannot decide calls of ${tool.name}: it is not a StructuredTool`);
  const pair = tool.responseFormat === "content_and_artifact";
  const definition = declared(tool.description, tool.schema);
  const _call: Run = async (input, manager, config) => {
    const single = typeof input === "string"; // a tool with one text
    const args = (single ? { input } : (input ?? {})) as Record<string, unknown>;
    const call = { ...settings, tool: tool.name, args, definition, callId: config?.toolCall?.id, signal: config?.signal };
    const result = await judged(
      gate,
      call,
      async ({ args }) => returned(await run.call(tool, single ? args["input"] : args, manager, config)),
      (value) => contentOf(pair ? (value as unknown[])[0] : value),
    );
    if (!(result instanceof Refusal)) return result;
    return pair ? [result.text, undefined] : result.text;
  };
  const made = Object.create(tool, { _call: { value: _call }, ...("func" in tool && { func: { value: _call } }) }) as T;
  guarded.add(made);
  return made;
}

/** The part of a request of wrapToolCall that the middleware uses. */
export interface RequestLike {
  readonly tool: unknown;
}

/**
 * Returns the configuration of a middleware, for createMiddleware. It judges where the tool runs, after the changes of every
 * other middleware. It must be the last one of the list: one after it could bring a tool that is not judged.
 */
export function middleware(gate: Gate, settings: Settings = {}) {
  return {
    name: "stopgate",
    wrapToolCall<Q extends RequestLike, A>(request: Q, handler: (request: Q) => A): A {
      return handler(request.tool ? { ...request, tool: guard(gate, request.tool as ToolLike, settings) } : request);
    },
  };
}

/** Returns the result of a tool. A generator is read to its end: nothing that it yields is passed on before it is judged. */
async function returned(result: unknown): Promise<unknown> {
  if (typeof (result as AsyncGenerator | undefined)?.[Symbol.asyncIterator] !== "function") return result;
  for (const parts = (result as AsyncGenerator)[Symbol.asyncIterator](); ; ) {
    const { done, value } = (await parts.next()) as IteratorResult<unknown>;
    if (done) return value;
  }
}

/** Returns a result as the model reads it: of a message its content, of a Command, which steers the graph, its update. */
function contentOf(value: unknown): string {
  const { content, update } = (value ?? {}) as { readonly content?: unknown; readonly update?: unknown };
  return textOf(content ?? update ?? value);
}
