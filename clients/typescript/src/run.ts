/** Runs a tool behind the gate: decide, run the judged arguments, report the result, return what the model may read. */

import { BadArguments, Denied, StopgateError } from "./errors.js";
import { decode } from "./exact.js";
import type { CallOptions, Gate } from "./gate.js";
import { type Delivery, type Outcome, resultText } from "./outcome.js";

/** The value that a function returns, awaited. */
export type Deliver<R> = Awaited<R>;

/** Facts about a call that is run. */
export interface RunOptions extends CallOptions {
  /** Called with the outcome before the tool runs, and for a call that does not run. */
  readonly onOutcome?: (outcome: Outcome) => void;
}

export async function runTool<R>(gate: Gate, tool: string, args: Readonly<Record<string, unknown>> | string | Uint8Array, fn: (args: any) => R, options: RunOptions): Promise<Deliver<R>> {
  const outcome = await gate.decide(tool, args, options);
  options.onOutcome?.(outcome);
  if (!outcome.allowed) throw new Denied(outcome);
  const judged = await readArgs(outcome);
  let result: Deliver<R>;
  try {
    options.signal?.throwIfAborted();
    result = await fn(judged);
  } catch (error) {
    await deliverError(outcome, error);
    throw error;
  }
  return deliver(outcome, result);
}

/** The arguments to run. Where JavaScript cannot hold them the gate learns that the call failed. */
async function readArgs(outcome: Outcome): Promise<object> {
  try {
    return outcome.args;
  } catch (error) {
    await outcome.ran(`the call did not run: ${messageOf(error)}`, { failed: true });
    throw error;
  }
}

/** Reports the error of a tool. It reaches the model only if the result policy delivers it. */
async function deliverError(outcome: Outcome, error: unknown): Promise<void> {
  const delivery = await outcome.ran(messageOf(error), { failed: true });
  if (!delivery.delivered || delivery.changed) throw new Denied(outcome, delivery);
}

async function deliver<T>(outcome: Outcome, result: T): Promise<T> {
  let text: string;
  try {
    text = resultText(result);
  } catch (error) {
    await outcome.ran(`the result cannot be reported: ${messageOf(error)}`); // the tool ran
    throw error;
  }
  const delivery = await outcome.ran(text);
  if (!delivery.delivered) throw new Denied(outcome, delivery);
  return delivery.changed ? changed(outcome, delivery, result) : result;
}

/** The value of a result that a person changed: text for text, and otherwise the JSON value. */
function changed<T>(outcome: Outcome, delivery: Delivery, result: T): T {
  if (typeof result === "string") return delivery.data as T;
  try {
    return decode(delivery.data) as T;
  } catch (error) {
    if (error instanceof BadArguments) throw new Denied(outcome, delivery);
    throw error;
  }
}

/** The text of an error, well-formed. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.toWellFormed();
}

/** The text for the model of an error that means "not run": undefined for other errors. */
export function modelTextOf(error: unknown): string | undefined {
  if (error instanceof Denied) return error.message;
  if (error instanceof StopgateError) return `[stopgate] The tool call was not run: ${error.message}`;
  return undefined;
}
