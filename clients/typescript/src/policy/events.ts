/** Event policies: hooks for the parts of an exchange of the LLM gateway. */

type Json = Record<string, unknown>;

/** Thrown by `request`: the request is refused, and the client reads the message. */
export class Rejected extends Error {
  readonly status: number;
  constructor(message: string, status = 403) {
    super(message);
    this.status = status;
  }
}

/** One request and its response. `scratchpad` is JSON and lives as long as the exchange. */
export interface Exchange {
  readonly id: string;
  readonly session?: string;
  readonly principal?: string;
  readonly agent?: string;
  readonly dialect?: string;
  readonly model?: string;
  readonly streamed: boolean;
  readonly scratchpad: Json;
  /** Reports an event to the subscribers of the gate. */
  emit(type: string, summary: string, more?: { severity?: "info" | "warning" | "error"; details?: Json }): void;
}

/** A call of the model. A hook may change `arguments` before it sends the complete call. */
export interface ModelCall {
  readonly choice: number;
  readonly index: number;
  readonly id: string;
  readonly tool: string;
  arguments: string;
  readonly refused?: string;
}

/** The output of the policy in a hook. What a hook sends replaces the part that it is about. */
export interface Output {
  readonly finished: boolean;
  sendText(text: string, finish?: boolean): void;
  /** Forwards the call that the hook is about. */
  send(call: ModelCall): void;
  finish(): void;
  dropSilently(): void;
  stop(): void;
}

type Done = void | Promise<void>;

/** The hooks that a policy needs; parts without a hook pass unchanged. */
export interface EventPolicy {
  request?(body: Json, exchange: Exchange): Json | void | Promise<Json | void>;
  response?(body: Json, exchange: Exchange): Json | void | Promise<Json | void>;
  streamStart?(exchange: Exchange, out: Output): Done;
  contentDelta?(delta: string, exchange: Exchange, out: Output): Done;
  contentComplete?(text: string, exchange: Exchange, out: Output): Done;
  toolCallDelta?(delta: string, call: ModelCall, exchange: Exchange, out: Output): Done;
  toolCallComplete?(call: ModelCall, exchange: Exchange, out: Output): Done;
  finishReason?(reason: string, exchange: Exchange, out: Output): Done;
  streamComplete?(exchange: Exchange, calls: Readonly<Record<string, number>>): Done;
}

const methods = {
  request: "request", response: "response", stream_start: "streamStart", content_delta: "contentDelta", content_complete: "contentComplete",
  tool_call_delta: "toolCallDelta", tool_call_complete: "toolCallComplete", finish_reason: "finishReason", stream_complete: "streamComplete",
} as const;
type Hook = keyof typeof methods;

/** Returns the hooks of a policy as `hooks` of the table names them. */
export const hooksOf = (policy: EventPolicy): string[] => (Object.keys(methods) as Hook[]).filter((h) => policy[methods[h]] !== undefined);

/** Returns the answer of a policy to a question about a part of an exchange. */
export async function answerEvent(policy: EventPolicy, q: Json): Promise<Json> {
  const hook = q["ask"] as Hook;
  if (!Object.hasOwn(methods, hook)) throw new Error("unknown hook");
  const method = policy[methods[hook]] as ((...args: unknown[]) => unknown) | undefined;
  if (method === undefined) return {};
  const events: Json[] = [];
  const scratchpad = q["scratch"] as Json;
  const exchange: Exchange = {
    ...(q["exchange"] as Exchange), scratchpad,
    emit: (type, summary, more = {}) => void events.push({ type, summary, ...more }),
  };
  const kept = (): Json => ({ scratch: scratchpad, ...(events.length > 0 ? { events } : {}) });
  if (hook === "request" || hook === "response") {
    try {
      const body = await method.call(policy, q[hook], exchange);
      return { ...(body === undefined ? {} : { [hook]: body }), ...kept() };
    } catch (error) {
      if (hook === "request" && error instanceof Rejected) return { reject: { status: error.status, message: error.message }, ...kept() };
      throw error;
    }
  }
  if (hook === "stream_complete") {
    await method.call(policy, exchange, q["calls"]);
    return kept();
  }
  const out = new Sink(q["finished"] === true, hook === "tool_call_complete" || (hook === "tool_call_delta" && policy.toolCallComplete === undefined));
  const parts = { stream_start: [], content_delta: [q["delta"]], content_complete: [q["text"]], finish_reason: [q["finish_reason"]], tool_call_delta: [q["delta"], q["call"]], tool_call_complete: [q["call"]] }[hook];
  await method.call(policy, ...parts, exchange, out);
  return { output: out.output, ...out.flags, ...kept() };
}

class Sink implements Output {
  finished: boolean;
  readonly output: Json[] = [];
  readonly flags: Json = {};
  readonly #forwards: boolean;

  constructor(finished: boolean, forwards: boolean) {
    this.finished = finished;
    this.#forwards = forwards;
  }

  sendText(text: string, finish = false): void {
    this.#check();
    if (text !== "") this.output.push({ text });
    if (finish) this.finish();
  }

  send(call: ModelCall): void {
    this.#check();
    if (this.#forwards) this.output.push({ call: true, arguments: call.arguments });
  }

  finish(): void {
    this.finished = true;
    this.flags["finish"] = true;
  }

  dropSilently(): void {
    this.flags["silent"] = true;
  }

  stop(): void {
    this.flags["stop"] = true;
  }

  #check(): void {
    if (this.finished) throw new Error("the output is finished");
  }
}
