/** What an event of a provider's stream means for the calls of the model. */

import { BadAnswer } from "../errors.js";

export type Signal =
  /** A call begins. */
  | { readonly kind: "start"; readonly key: string; readonly callId: string; readonly name: string }
  /** A part of its arguments. */
  | { readonly kind: "text"; readonly key: string; readonly text: string }
  /** Its arguments are complete. */
  | { readonly kind: "end"; readonly key: string }
  /** The answer ended before it was complete; calls that have not ended must not run. */
  | { readonly kind: "cut" };

/** Reads the events of one provider API. */
export interface Reader {
  read(event: Fields): Signal[];
}

/** An event as it is: its form is checked where it is used. */
export type Fields = Readonly<Record<string, unknown>>;

/** The members of an object; none for anything else. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The elements of an array; none for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string, "" for nothing. */
export function text(value: unknown, what: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new BadAnswer(`the stream has a ${what} that is not text; no call of it may run`);
  return value;
}

/** A position or id that identifies a part of an answer. */
export function keyOf(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number") throw new BadAnswer("the stream has a call without a position; no call of it may run");
  return String(value);
}

/** The error of a stream that contradicts itself. */
export function contradiction(what: string): BadAnswer {
  return new BadAnswer(`the stream has two versions of ${what}; no call of it may run`);
}
