/**
 * MCP clients (`@modelcontextprotocol/sdk`). The gate is put into the transport: no way to call a tool leads past it.
 *
 *	await client.connect(guard(gate, new StdioClientTransport({ command }), { server: "files" }));
 */
import type { Gate, Outcome } from "../index.js";
import { declared, judged, Refusal, type Settings } from "./judged.js";

interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
}
interface Params {
  readonly name?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly task?: unknown;
  readonly requestId?: string | number;
}
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: { readonly tools?: readonly Tool[]; readonly isError?: boolean };
  readonly error?: { readonly message: string };
}
/** The parts of a Transport that the adapter uses. */
export interface TransportLike {
  send(message: never, options?: never): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** Settings of [guard]. With `server` the policy names the tools SERVER__TOOL, as for the MCP gateway and hooks. */
export interface ServerSettings extends Settings {
  readonly server?: string;
}

/** Returns the transport with the gate in it. A refused call is answered with the reason. Calls as tasks are errors. */
export function guard<T extends TransportLike>(gate: Gate, transport: T, { server, ...settings }: ServerSettings = {}): T {
  const pass = transport.send.bind(transport) as (message: Message, options?: unknown) => Promise<void>;
  const open = new Map<unknown, { readonly abort: AbortController; answer?: (message: Message) => void }>();
  const tools = new Map<string, Tool>();
  let deliver: ((message: unknown, extra?: unknown) => void) | undefined;

  async function call(message: Message, options: unknown): Promise<void> {
    const { name = "", arguments: args = {}, task } = message.params ?? {};
    if (task !== undefined) throw new TypeError(`stopgate cannot judge the result of a task: call ${name} without one`);
    const tool = tools.get(name);
    const abort = new AbortController();
    const facts = { server, signal: abort.signal, definition: tool && declared(tool.description, tool.inputSchema), ...settings };
    open.set(message.id, { abort });
    const exchange = ({ args }: Outcome): Promise<Message> =>
      new Promise((resolve, reject) => {
        open.set(message.id, { abort, answer: resolve });
        abort.signal.addEventListener("abort", () => reject(abort.signal.reason));
        pass({ ...message, params: { ...message.params, arguments: args } }, options).catch(reject);
      });
    try {
      const answer = await judged(gate, { tool: server === undefined ? name : `${server}__${name}`, args, ...facts }, exchange, contentOf, failed);
      if (!(answer instanceof Refusal)) return deliver?.(answer);
      // A client takes no result without structured content from a tool that declares it, unless it is an error.
      const isError = !answer.skipped || tool?.outputSchema !== undefined;
      deliver?.({ jsonrpc: "2.0", id: message.id, result: { content: [{ type: "text", text: answer.text }], isError } });
    } finally {
      open.delete(message.id);
    }
  }

  const send = (message: Message, options?: unknown): Promise<void> => {
    if (message.method === "notifications/cancelled") open.get(message.params?.requestId)?.abort.abort();
    return message.method === "tools/call" ? call(message, options) : pass(message, options);
  };
  const receive = (message: Message, extra?: unknown): void => {
    const waiting = message.method === undefined ? open.get(message.id) : undefined;
    if (waiting) return waiting.answer?.(message);
    for (const tool of message.result?.tools ?? []) tools.set(tool.name, tool);
    deliver?.(message, extra);
  };
  Object.assign(transport, { onmessage: receive });
  return new Proxy(transport, {
    get(target, key) {
      if (key === "send") return send;
      const value: unknown = key === "onmessage" ? deliver : Reflect.get(target, key);
      return typeof value === "function" && key !== "onmessage" ? value.bind(target) : value;
    },
    set(target, key, value) {
      if (key !== "onmessage") return Reflect.set(target, key, value);
      deliver = value as typeof deliver;
      return true;
    },
  });
}

const contentOf = ({ result, error }: Message): string => (error ? error.message : JSON.stringify(result));
const failed = ({ result, error }: Message): boolean => error !== undefined || result?.isError === true;
