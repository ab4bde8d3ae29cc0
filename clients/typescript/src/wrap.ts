/** Functions that ask the gate before they run. */

import { BadArguments, Denied } from "./errors.js";
import type { CallOptions, Gate } from "./gate.js";

/** How a function is wrapped. */
export interface WrapOptions extends Omit<CallOptions, "callId" | "turn" | "definition"> {
  /** The name of the tool; by default that of the function. */
  readonly name?: string;
  /** For the gate, where the policy does not declare the tool. */
  readonly description?: string;
  /** The JSON Schema of the arguments, where the policy does not declare the tool. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** A call that must not run throws Denied, or returns the text for the model. By default "throw". */
  readonly onDenied?: "throw" | "return";
}

/** A function of one object of arguments. Further parameters go to the wrapped function unjudged: contexts of hosts. */
export type Wrapped<A extends object, Rest extends unknown[], R> = (args: A, ...rest: Rest) => Promise<R>;

export function wrap<A extends object, Rest extends unknown[], R>(gate: Gate, fn: (args: A, ...rest: Rest) => R, options: WrapOptions): Wrapped<A, Rest, Awaited<R> | string> {
  const { name = fn.name, description, parameters, onDenied = "throw", ...call } = options;
  if (name === "") throw new BadArguments("the function has no name: wrap(fn, { name: ... })");
  const definition = description === undefined && parameters === undefined ? undefined : { description, parameters };
  const wrapped = async (args: A, ...rest: Rest): Promise<Awaited<R> | string> => {
    try {
      return await gate.run(name, args as Record<string, unknown>, (judged: A) => fn(judged, ...rest), { ...call, definition });
    } catch (error) {
      if (error instanceof Denied && onDenied === "return") return error.message;
      throw error;
    }
  };
  return Object.defineProperty(wrapped, "name", { value: name });
}
