/** Questions about calls that a person must decide, and their answers by this program. */

import { BadAnswer } from "./errors.js";
import { decode, encode, type Json } from "./exact.js";
import type { Approval, Rule } from "./models.js";

/** The answer to a question. */
export type Reply =
  | { readonly answer: "approve" }
  | { readonly answer: "deny"; readonly reason: string }
  | { readonly answer: "edit"; readonly args: unknown };

/** The call may run, once, exactly as the question shows it. */
export const yes = (): Reply => ({ answer: "approve" });

/** The call must not run; the model reads the reason. */
export const no = (reason = ""): Reply => ({ answer: "deny", reason });

/** The call with other arguments instead. They are judged like those of any other call. */
export const edit = (args: Readonly<Record<string, unknown>>): Reply => ({ answer: "edit", args });

/**
 * Asks a person. Without a reply the question stays in the queue of the gate. A question that is not `complete` comes while
 * the arguments still arrive: a no counts at once; after a yes the complete question is asked.
 */
export type OnAsk = (question: Question) => Reply | undefined | void | Promise<Reply | undefined | void>;

/** A question about a call. */
export class Question {
  readonly id: string;
  readonly tool: string;
  readonly session: string;
  readonly mode: "ask" | "edit";
  readonly code: string;
  /** Why it is asked, for people. */
  readonly public: string;
  readonly rule: Rule | undefined;
  /** The arguments are complete. */
  readonly complete: boolean;
  /** The arguments as JSON text, so far as they have arrived. */
  readonly argsText: string;
  /** Aborted when no answer is needed any more. */
  readonly signal: AbortSignal;
  /** @internal */
  readonly seen: string | undefined;

  /** @internal */
  constructor(value: Partial<Approval>, signal: AbortSignal) {
    const { id, tool, mode, code, complete } = value;
    if (typeof id !== "string" || typeof tool !== "string" || typeof code !== "string" || typeof complete !== "boolean" || (mode !== "ask" && mode !== "edit") || (complete && !value.seen)) {
      throw new BadAnswer("the gate sent a malformed question; the call must not run");
    }
    this.id = id;
    this.tool = tool;
    this.mode = mode;
    this.code = code;
    this.complete = complete;
    this.session = value.session ?? "";
    this.public = value.public ?? "";
    this.rule = value.rule;
    this.argsText = value.args ?? "";
    this.seen = value.seen;
    this.signal = signal;
  }

  /** The arguments; throws BadArguments if they are not complete, or JavaScript cannot hold them exactly. */
  get args(): Json {
    return decode(this.argsText);
  }
}

/** The body of an answer. It is bound to the state of the question that was shown. */
export function bodyOf(reply: Reply, question: Question): string {
  const seen = question.seen === undefined ? {} : { seen: question.seen };
  switch (reply.answer) {
    case "approve":
      return encode({ answer: "approve", ...seen });
    case "deny":
      return encode({ answer: "deny", ...(reply.reason === "" ? {} : { reason: reply.reason }) });
    case "edit":
      return encode({ answer: "edit", ...seen, args: reply.args });
  }
}
