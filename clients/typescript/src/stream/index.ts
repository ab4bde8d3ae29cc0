/** Streams of the OpenAI and Anthropic SDKs whose calls are judged while they arrive. */

import type { Call } from "../call.js";
import { BadAnswer } from "../errors.js";
import type { CallOptions, Gate } from "../gate.js";
import type { Outcome } from "../outcome.js";
import { AnthropicReader } from "./anthropic.js";
import { ChatReader } from "./chat.js";
import { ResponsesReader } from "./responses.js";
import { type Fields, fields, type Reader, type Signal } from "./signal.js";

/** Options of `gate.stream`. */
export interface StreamOptions extends Omit<CallOptions, "callId" | "definition"> {
  /** Declarations of the tools, by their names, where the policy does not declare them. */
  readonly definitions?: Readonly<Record<string, NonNullable<CallOptions["definition"]>>>;
  /** After a call was refused before its end, the stream is closed, unless another call is open: "close". By default. */
  readonly afterDenial?: "close" | "continue";
}

/** A call of a stream. */
export class StreamedCall {
  readonly callId: string;
  readonly name: string;
  /** The decision; undefined if the answer of the model ended before the call was complete. */
  outcome: Outcome | undefined;

  /** @internal */
  constructor(callId: string, name: string) {
    this.callId = callId;
    this.name = name;
  }

  /** Reports whether the call may run, with `outcome.args`. */
  get allowed(): boolean {
    return this.outcome?.allowed ?? false;
  }

  /** The text that the model should read of a call that does not run. */
  get modelText(): string {
    return this.outcome?.modelText ?? "[stopgate] The tool call was not run: The model's answer ended before the call was complete (stream_truncated).";
  }
}

/** A call that has not been decided. */
interface Open {
  readonly call: Call;
  readonly streamed: StreamedCall;
  outcome: Promise<Outcome> | undefined;
}

/**
 * Iterates the events of a stream. When the iteration is over, `calls` has the decision about every call: run the allowed
 * ones, with the arguments of their outcomes, and not those that the events spell. An error means that none may run.
 */
export class GatedStream<E> implements AsyncIterable<E> {
  /** The calls in the order of their beginnings. */
  readonly calls: StreamedCall[] = [];
  /** The stream was closed because a call was refused. */
  closed = false;
  readonly #gate: Gate;
  readonly #events: AsyncIterable<E>;
  readonly #options: StreamOptions;
  readonly #open = new Map<string, Open>();
  #reader: Reader | undefined;
  #begun = false;

  /** @internal */
  constructor(gate: Gate, events: AsyncIterable<E>, options: StreamOptions) {
    this.#gate = gate;
    this.#events = events;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    if (this.#begun) throw new BadAnswer("the stream is read already");
    this.#begun = true;
    const events = this.#events[Symbol.asyncIterator]();
    let ended = false;
    let over = false;
    try {
      while (!this.closed) {
        const next = await events.next();
        if ((ended = next.done === true)) break;
        for (const signal of this.#read(next.value)) await this.#apply(signal);
        yield next.value;
      }
      await this.#finish();
      over = true;
    } finally {
      if (!ended) await this.#stop(events);
      if (!over) await this.#abandon();
    }
  }

  #read(event: E): Signal[] {
    const members = fields(event);
    this.#reader ??= readerOf(members);
    return this.#reader?.read(members) ?? [];
  }

  async #apply(signal: Signal): Promise<void> {
    switch (signal.kind) {
      case "start":
        return this.#begin(signal.key, signal.callId, signal.name);
      case "text":
        return this.#feed(signal.key, signal.text);
      case "end":
        return this.#end(signal.key);
      case "cut":
        for (const { call, outcome } of this.#open.values()) if (outcome === undefined) await call.cancel();
    }
  }

  #begin(key: string, callId: string, name: string): void {
    const { definitions, afterDenial: _, ...options } = this.#options;
    const definition = definitions !== undefined && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    const streamed = new StreamedCall(callId, name);
    this.calls.push(streamed);
    this.#open.set(key, { call: this.#gate.call(name, { ...options, callId: callId === "" ? undefined : callId, definition }), streamed, outcome: undefined });
  }

  async #feed(key: string, text: string): Promise<void> {
    const open = this.#open.get(key);
    if (open === undefined) throw new BadAnswer("the stream has arguments without a call; no call of it may run");
    const { call } = open;
    if (!call.refused) {
      await call.feed(text);
      return;
    }
    const others = [...this.#open.values()].some((other) => other !== open && other.outcome === undefined && !other.call.refused);
    if (this.#options.afterDenial !== "continue" && !others) this.closed = true;
  }

  #end(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    open.outcome = open.call.close();
    open.outcome.catch(() => {}); // #finish reports it
  }

  /** Waits for the decisions. Calls that have not ended are refused, or cancelled. */
  async #finish(): Promise<void> {
    for (const [key, { call, outcome }] of this.#open) {
      if (outcome !== undefined) continue;
      if (call.refused) this.#end(key);
      else await call.cancel();
    }
    const calls = [...this.#open.values()];
    const outcomes = await Promise.all(calls.map(({ outcome }) => outcome));
    // All or none: a call of an answer that breaks off, or contradicts itself, must not run.
    calls.forEach(({ streamed }, i) => (streamed.outcome = outcomes[i]));
  }

  /** Closes the stream, so that the provider stops. */
  async #stop(events: AsyncIterator<E>): Promise<void> {
    const { controller } = this.#events as { controller?: { abort?: () => void } };
    controller?.abort?.();
    await events.return?.()?.catch(() => {}); // the stream may report that it was aborted
  }

  async #abandon(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ call }) => call.cancel()));
  }
}

/** The reader of the API whose event this is. */
function readerOf(event: Fields): Reader | undefined {
  const type = typeof event["type"] === "string" ? event["type"] : "";
  if (Array.isArray(event["choices"]) || event["object"] === "chat.completion.chunk") return new ChatReader();
  if (type.startsWith("response.")) return new ResponsesReader();
  if (/^(message_|content_block_)/.test(type)) return new AnthropicReader();
  if (type === "ping" || type === "error") return undefined;
  throw new BadAnswer("the stream is not one of OpenAI Chat Completions, OpenAI Responses or Anthropic Messages");
}
