/** What the gate decided about a call, and what of its result the model may read. */

import type { Answer } from "./answer.js";
import { BadAnswer, BadArguments, Denied } from "./errors.js";
import { decode, type Json } from "./exact.js";
import type { Access, Envelope, Mode, Rule } from "./models.js";

/** How a tool ended. */
export interface RanOptions {
  /** True if the tool failed, false if it succeeded; without it the policy's rules for the tool determine it. */
  readonly failed?: boolean;
  /** The target of the call does not exist. */
  readonly absent?: boolean;
}

/** What an outcome needs of its gate. */
export interface Reporter {
  report(id: string, tool: string, data: string, options: RanOptions): Promise<Delivery>;
  settle(answer: Answer, wait: number | undefined, signal?: AbortSignal): Promise<Outcome>;
}

/** The decision about a call. Only `allowed` permits to run it, with exactly `args`. */
export class Outcome {
  /** The id of the call at the gate. */
  readonly id: string;
  readonly tool: string;
  readonly session: string;
  readonly status: "allowed" | "denied" | "skipped" | "pending";
  readonly mode: Mode;
  /** The stable reason code, "" without one. */
  readonly code: string;
  /** The reason for models and people, "" without one. */
  readonly public: string;
  readonly rule: Rule | undefined;
  /** The files that the tool may touch; the program that runs it enforces this. */
  readonly access: Access | undefined;
  /** The question, or who answered it. */
  readonly approval: { readonly id: string; readonly by?: string; readonly edited?: boolean } | undefined;
  /** The normalized result for the model; undefined while the call is pending. */
  readonly envelope: Envelope | undefined;
  /** False in observe mode: the verdict would have been enforced otherwise. */
  readonly enforced: boolean;
  /** Argument bytes after which the verdict was determined. */
  readonly decidedAt: number;
  readonly #answer: Answer;
  readonly #reporter: Reporter;
  #args: Record<string, Json> | undefined;

  /** @internal */
  constructor(answer: Answer, reporter: Reporter) {
    this.id = answer.id;
    this.tool = answer.tool;
    this.session = answer.session ?? "";
    this.status = answer.status;
    this.mode = answer.mode;
    this.code = answer.code ?? "";
    this.public = answer.public ?? "";
    this.rule = answer.rule;
    this.access = answer.access;
    const { approval } = answer;
    this.approval = approval && { id: approval.id, ...(approval.by === undefined ? {} : { by: approval.by }), ...(approval.edited === undefined ? {} : { edited: approval.edited }) };
    this.envelope = answer.envelope;
    this.enforced = answer.enforced;
    this.decidedAt = answer.decided_at;
    this.#answer = answer;
    this.#reporter = reporter;
  }

  /** Reports whether the call may run, with `args`. */
  get allowed(): boolean {
    return this.status === "allowed";
  }

  /** Reports whether the call waits for a person. */
  get pending(): boolean {
    return this.status === "pending";
  }

  /** The arguments that must run, as JSON text, byte for byte. Throws Denied if the call is not allowed. */
  get argsText(): string {
    if (!this.allowed) throw new Denied(this);
    return this.#answer.args_text ?? "";
  }

  /**
   * The arguments that must run. Throws Denied if the call is not allowed, and BadArguments if JavaScript cannot hold them
   * exactly; `argsText` holds them.
   */
  get args(): Record<string, Json> {
    if (this.#args === undefined) {
      const value = decode(this.argsText);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadArguments("the arguments are not an object");
      this.#args = value;
    }
    return this.#args;
  }

  /** The text that the model should read instead of a result; "" if the call is allowed. */
  get modelText(): string {
    if (this.allowed) return "";
    const [reason, code] = this.pending ? ["An approval is pending; repeat the identical call later.", "approval_pending"] : [this.public, this.code];
    return `[stopgate] The tool call ${toolName(this.tool)} was not run: ${sentence(reason)} (${code}).`;
  }

  /** Waits for the person who was asked, at most `wait` milliseconds, by default until the gate ends the question. */
  async wait(wait?: number, signal?: AbortSignal): Promise<Outcome> {
    return this.pending ? this.#reporter.settle(this.#answer, wait, signal) : this;
  }

  /** Reports the result of the call, once, and returns what of it the model may read. Other values than strings are reported as JSON. */
  async ran(result: unknown, options: RanOptions = {}): Promise<Delivery> {
    if (!this.allowed) throw new Denied(this);
    return this.#reporter.report(this.id, this.tool, resultText(result), options);
  }
}

/** What of a result the model may read. */
export class Delivery {
  readonly mode: Mode;
  /** The result itself reaches the model. */
  readonly delivered: boolean;
  /** The result, or what replaces it: the envelope of a result that is withheld. */
  readonly data: string;
  /** `data` is not the text that was reported. */
  readonly changed: boolean;
  /** The reason of a result that is withheld, "" otherwise. */
  readonly code: string;
  readonly envelope: Envelope;
  readonly #tool: string;

  /** @internal */
  constructor(value: Record<string, unknown>, tool: string, reported: string) {
    const { mode, delivered, data, code = "", envelope } = value;
    if (typeof mode !== "string" || typeof delivered !== "boolean" || typeof data !== "string" || typeof code !== "string" || typeof envelope !== "object" || envelope === null) {
      throw new BadAnswer("the answer about the result lacks members; the result must not be used");
    }
    this.mode = mode as Mode;
    this.delivered = delivered;
    this.data = data;
    this.changed = data !== reported;
    this.code = code;
    this.envelope = envelope as Envelope;
    this.#tool = tool;
  }

  /** The text that the model should read: the result, or that it is withheld. */
  get modelText(): string {
    if (this.delivered) return this.data;
    return `[stopgate] The result of ${toolName(this.#tool)} is withheld: ${sentence(this.envelope.publicReason ?? "")} (${this.code}).`;
  }
}

/** The text of a result: strings as they are, nothing as "", other values as JSON. */
export function resultText(result: unknown): string {
  let text: string | undefined;
  try {
    text = typeof result === "string" ? result : result === undefined ? "" : JSON.stringify(result);
  } catch (error) {
    throw new BadArguments(`the result cannot be written as JSON (${error instanceof Error ? error.message.split("\n")[0] : String(error)}); return a string`);
  }
  if (text === undefined) throw new BadArguments(`the result is a ${typeof result}; return a string`);
  if (!text.isWellFormed()) throw new BadArguments("the result has a lone surrogate");
  return text;
}

/** The quoted name of a tool, if it has the form of one: a model may have written it. */
function toolName(name: string): string {
  return /^[A-Za-z0-9_.:-]{1,128}$/.test(name) ? `\`${name}\`` : "`this tool`";
}

/** A reason as one line without its full stop, so that it does not look like a second line of the gate. */
function sentence(reason: string): string {
  return reason.replaceAll(/[\u0000-\u001f\u007f\u0085\u2028\u2029\ufffd]/g, " ").trim().replace(/\.$/, "");
}
