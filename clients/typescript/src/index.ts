/**
 * The client of stopgate: it asks the gate before a tool call of a model runs.
 *
 *	import * as stopgate from "@stopgate/client";
 *	const gate = await stopgate.local();
 *	const safe = gate.wrap(deleteFile); // runs only what the policy permits
 */

import { Connection } from "./connection.js";
import { BadArguments } from "./errors.js";
import { Gate } from "./gate.js";
import { Http } from "./http.js";
import { Presence } from "./presence.js";
import { findProgram } from "./program.js";
import type { OnAsk } from "./question.js";
import { Relay } from "./relay.js";

/** Options of every gate object. */
export interface GateOptions {
  /** Milliseconds until the gate must have answered what waits for no person. By default 30,000. */
  readonly timeout?: number;
  /** Asks a person in the program's own interface. Without it questions wait in the queue of the gate. */
  readonly onAsk?: OnAsk;
}

/** Options of `local`. */
export interface LocalOptions extends GateOptions {
  /** Policy files. By default those that `stopgate up` finds. */
  readonly policy?: string | readonly string[];
  /** The directory of the project. By default the working directory. */
  readonly project?: string;
  /** The program stopgate. By default that of its package, else of PATH. */
  readonly binary?: string;
}

/** Options of `connect`. */
export interface ConnectOptions extends GateOptions {
  /** A token with the scope decide, as `[api.tokens]` of the gate names it. */
  readonly token?: string;
  /** Another token, with the scope approve: `onAsk` answers with it. */
  readonly approveToken?: string;
}

const defaultTimeout = 30_000;
const longestTimeout = 86_400_000;

function timeoutOf({ timeout = defaultTimeout }: GateOptions): number {
  if (timeout > 0 && timeout <= longestTimeout) return timeout;
  throw new BadArguments(`timeout is a number of milliseconds from 1 to ${longestTimeout}, not ${timeout}`);
}

/** The gate of this user on this machine. It is started if none runs, and ends when it is idle. */
export async function local(options: LocalOptions = {}): Promise<Gate> {
  const { onAsk, policy, project, binary } = options;
  const timeout = timeoutOf(options);
  const files = policy === undefined ? [] : [policy].flat();
  const args = ["connect", ...files.flatMap((file) => ["--policy", file]), ...(project === undefined ? [] : ["--project", project])];
  const relay = new Relay({ binary: findProgram(binary), args, timeout });
  await relay.start();
  return new Gate(new Connection({ transport: relay, timeout, onAsk, presence: undefined, programs: () => relay.programs }), true);
}

/** The gate at an address, http://HOST:PORT or https://HOST. */
export async function connect(address: string, options: ConnectOptions = {}): Promise<Gate> {
  const { onAsk, token, approveToken } = options;
  const timeout = timeoutOf(options);
  const presence = onAsk === undefined || approveToken === undefined ? undefined : new Presence(new Http(address, approveToken), timeout);
  return new Gate(new Connection({ transport: new Http(address, token), timeout, onAsk, presence, programs: () => false }), false);
}

export { Call } from "./call.js";
export { BadAnswer, BadArguments, Denied, GateTimeout, GateUnavailable, Problem, ProgramMissing, StopgateError } from "./errors.js";
export { decode, encode, type Json } from "./exact.js";
export { type CallOptions, Gate } from "./gate.js";
export type * as models from "./models.js";
export { Delivery, Outcome, type RanOptions } from "./outcome.js";
export { edit, no, type OnAsk, Question, type Reply, yes } from "./question.js";
export { modelTextOf, type RunOptions } from "./run.js";
export { Session, type SessionOptions, type Source } from "./session.js";
export { GatedStream, StreamedCall, type StreamOptions } from "./stream/index.js";
export type { Wrapped, WrapOptions } from "./wrap.js";
