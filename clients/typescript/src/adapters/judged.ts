/** One tool call of a host: decided, run if it may run, and its result reported. Every adapter goes through here. */
import type { CallOptions, Gate, Outcome, Session } from "../index.js";

/** What all adapters take. Without a session the current one holds, else that of the gate. */
export interface Settings {
  readonly session?: Session | string;
  /** The name of the agent, for rules and handoffs. */
  readonly agent?: string;
}

/** A call as the host has it: arguments as the model wrote them, or as an object. */
export interface HostCall extends CallOptions {
  readonly tool: string;
  readonly args: string | Readonly<Record<string, unknown>>;
}

/** Instead of a result: the call was refused, or its result is withheld. The model reads `text`. */
export class Refusal {
  readonly text: string;
  /** The policy skips the call: the host should not count it as an error. */
  readonly skipped: boolean;

  constructor(text: string, skipped: boolean) {
    this.text = text;
    this.skipped = skipped;
  }
}

/**
 * Decides a call and runs it with the arguments that may run. `textOf` is the result as the model would read it,
 * `failed` whether it is the report of an error. It returns the result, unless the policy withholds or replaces it. An error of the tool is reported as a failed result, and
 * thrown again unless the policy withholds it. Errors of the gate are thrown: the call did not run, or its result is not
 * delivered. A call whose signal is aborted while it is decided does not run.
 */
export async function judged<R>(gate: Gate, call: HostCall, run: (outcome: Outcome) => R | PromiseLike<R>, textOf: (result: R) => string, failed: (result: R) => boolean = () => false): Promise<R | Refusal> {
  const { tool, args, ...options } = call;
  const outcome = await gate.decide(tool, args, options);
  if (!outcome.allowed) return new Refusal(outcome.modelText, outcome.mode === "skip");
  options.signal?.throwIfAborted();
  let result: R;
  try {
    result = await run(outcome);
  } catch (error) {
    if (suspends(error)) throw error;
    const delivery = await outcome.ran(String(error).toWellFormed(), { failed: true });
    if (delivery.delivered && !delivery.changed) throw error;
    return new Refusal(delivery.modelText, false);
  }
  const delivery = await outcome.ran(textOf(result), { failed: failed(result) });
  return delivery.delivered && !delivery.changed ? result : new Refusal(delivery.modelText, false);
}

/**
 * Returns a tool as it was declared to the model, so that rules for every declared tool hold for it. The schema may be a
 * JSON Schema, one of the AI SDK's jsonSchema(), or one of a library that writes JSON Schema (standard-schema); parameters
 * of others are unknown.
 */
export function declared(description: unknown, schema: unknown): NonNullable<CallOptions["definition"]> {
  const parameters = parametersOf(schema);
  return { ...(typeof description === "string" && { description }), ...(parameters && { parameters }) };
}

type Schema = Readonly<Record<string, unknown>>;
interface SchemaLike {
  readonly type?: unknown;
  readonly jsonSchema?: unknown;
  readonly "~standard"?: { readonly jsonSchema?: { input(options: { readonly target: string }): Schema } };
}

function parametersOf(schema: unknown): Schema | undefined {
  if (schema === null || (typeof schema !== "object" && typeof schema !== "function")) return undefined;
  const { type, jsonSchema, "~standard": standard } = schema as SchemaLike;
  try {
    if (standard?.jsonSchema) return standard.jsonSchema.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // it has types that JSON Schema lacks
  }
  if (typeof jsonSchema === "object" && jsonSchema !== null && !("then" in jsonSchema)) return jsonSchema as Schema;
  return type === "object" && Object.getPrototypeOf(schema) === Object.prototype ? (schema as Schema) : undefined;
}

/** Returns a result as text: strings as they are, everything else as JSON. */
export function textOf(result: unknown): string {
  return typeof result === "string" ? result : (JSON.stringify(result) ?? "");
}

/** Reports whether an error is an interrupt of LangGraph: the tool has no result yet, and is called again. */
function suspends(error: unknown): boolean {
  return typeof error === "object" && error !== null && (error as { is_bubble_up?: unknown }).is_bubble_up === true;
}
