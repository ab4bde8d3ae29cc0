/** The gate object of a program. */

import { AsyncLocalStorage } from "node:async_hooks";
import { TextDecoder } from "node:util";
import { readAnswer } from "./answer.js";
import { Call } from "./call.js";
import { Asking, type Connection } from "./connection.js";
import { BadArguments } from "./errors.js";
import { encode } from "./exact.js";
import type { Outcome } from "./outcome.js";
import { type Deliver, type RunOptions, runTool } from "./run.js";
import { type Session, type SessionOptions, Sessions } from "./session.js";
import { GatedStream, type StreamOptions } from "./stream/index.js";
import { type Wrapped, type WrapOptions, wrap } from "./wrap.js";

/** Facts about a call. */
export interface CallOptions {
  /** The session, or the program's own name of one. By default the current one, else that of the gate object. */
  readonly session?: Session | string | undefined;
  /** Groups the calls of one response of the model. */
  readonly turn?: string | undefined;
  /** The agent that proposes the call. */
  readonly agent?: string | undefined;
  /** The id that the model gave the call. */
  readonly callId?: string | undefined;
  /** The MCP server of the tool. */
  readonly server?: string | undefined;
  /** The tool as it was declared to the model, where the policy does not declare it. */
  readonly definition?: { readonly description?: string | undefined; readonly parameters?: Readonly<Record<string, unknown>> | undefined } | undefined;
  /** The part of the session whose texts the call may come from. */
  readonly conversation?: string | undefined;
  /** Milliseconds to wait for a person; then the outcome is pending. By default until the gate ends the question. */
  readonly wait?: number | undefined;
  /** Gives the call up. */
  readonly signal?: AbortSignal | undefined;
}

/** The gate. Every error of its methods means that the call must not run. */
export class Gate implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #sessions: Sessions;

  /** @internal */
  constructor(connection: Connection, keys: boolean) {
    this.#connection = connection;
    this.#sessions = new Sessions(connection, new AsyncLocalStorage(), keys);
  }

  /** Decides a call. `args` is an object, or the text as the model wrote it. Run an allowed call with `args` of the outcome. */
  async decide(tool: string, args: Readonly<Record<string, unknown>> | string | Uint8Array, options: CallOptions = {}): Promise<Outcome> {
    const raw = textOf(args);
    const session = await this.#sessions.resolve(options.session);
    const { wait, signal } = options;
    const request = { method: "POST", path: "/v1/calls", headers: await this.#connection.callHeaders(session), body: encode({ ...members(tool, session, options), raw }) } as const;
    const answer = readAnswer(await this.#connection.request(request, { signal }), { tool, session: session.id, bytes: Buffer.byteLength(raw) });
    const asking = new Asking(this.#connection, session);
    return this.#connection.outcome(await this.#connection.settle(answer, asking, wait, signal), asking);
  }

  /** Decides a call whose arguments still arrive: feed them, then close. */
  call(tool: string, options: CallOptions = {}): Call {
    const { wait, signal } = options;
    const session = Promise.resolve(this.#sessions.resolve(options.session));
    session.catch(() => {}); // feed and close report it
    return new Call({ connection: this.#connection, tool, session, members: (known) => members(tool, known, options), wait, signal });
  }

  /**
   * Decides a call, runs the function with the judged arguments, reports its result, and returns what of it the model may
   * read: the function's own value, unless a result policy changed it. Throws Denied if the call must not run, or its
   * result is withheld.
   */
  run<R>(tool: string, args: Readonly<Record<string, unknown>> | string | Uint8Array, fn: (args: any) => R, options: RunOptions = {}): Promise<Deliver<R>> {
    return runTool(this, tool, args, fn, options);
  }

  /** A function that asks the gate before it runs. */
  wrap<A extends object, Rest extends unknown[], R>(fn: (args: A, ...rest: Rest) => R, options: WrapOptions & { readonly onDenied: "return" }): Wrapped<A, Rest, Deliver<R> | string>;
  wrap<A extends object, Rest extends unknown[], R>(fn: (args: A, ...rest: Rest) => R, options?: WrapOptions): Wrapped<A, Rest, Deliver<R>>;
  wrap<A extends object, Rest extends unknown[], R>(fn: (args: A, ...rest: Rest) => R, options: WrapOptions = {}): Wrapped<A, Rest, Deliver<R> | string> {
    return wrap(this, fn, options);
  }

  /** Begins a session. */
  session(options: SessionOptions = {}): Promise<Session> {
    return this.#sessions.begin(options);
  }

  /** The events of a stream of the OpenAI or Anthropic SDK, while its calls are judged. */
  stream<E>(events: AsyncIterable<E>, options: StreamOptions = {}): GatedStream<E> {
    return new GatedStream(this, events, options);
  }

  /** Ends the connection to the gate. */
  async close(): Promise<void> {
    await Promise.all([this.#connection.transport.close(), this.#connection.presence?.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The text of arguments. */
function textOf(args: unknown): string {
  if (typeof args === "string") {
    if (!args.isWellFormed()) throw new BadArguments("the arguments have a lone surrogate");
    return args;
  }
  if (!(args instanceof Uint8Array)) return encode(args);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(args);
  } catch {
    throw new BadArguments("the arguments are not UTF-8");
  }
}

/** The members of a call in a request, without its arguments. */
function members(tool: string, session: Session, options: CallOptions): object {
  const { turn, callId, server, definition, conversation } = options;
  return { tool, session: session.id, agent: options.agent ?? session.agent, turn, call_id: callId, server, definition, conversation };
}

