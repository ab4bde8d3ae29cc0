/** A call whose arguments still arrive. */

import { TextDecoder } from "node:util";
import { type Answer, readAnswer, readVerdict } from "./answer.js";
import { Asking, type Connection } from "./connection.js";
import { BadAnswer, BadArguments, StopgateError } from "./errors.js";
import { encode } from "./exact.js";
import { isHigh } from "./utf16.js";
import type { Approval, Verdict } from "./models.js";
import type { Outcome } from "./outcome.js";
import type { Session } from "./session.js";
import { type Exchange, maxResponse, parseObject, problemOf, reasonOf, timedOut } from "./transport.js";

/** What a call needs. */
export interface CallStart {
  readonly connection: Connection;
  readonly tool: string;
  readonly session: Session | Promise<Session>;
  /** The members of the first line, without the session. */
  readonly members: (session: Session) => object;
  readonly wait: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * A call whose arguments are fed as the model writes them. Its methods are called one after the other; only the outcome of
 * `close` permits to run it. A call that is left without `close` is cancelled by `cancel`, or at the end of `await using`.
 */
export class Call implements AsyncDisposable {
  readonly tool: string;
  readonly #start: CallStart;
  readonly #opened: Promise<Opened>;
  #sent = 0;
  #high = "";
  #decoder: TextDecoder | undefined;
  #closed: Promise<Outcome> | undefined;
  #lines: Lines | undefined;
  readonly #stop = new AbortController();
  #over = false;

  /** @internal */
  constructor(start: CallStart) {
    this.tool = start.tool;
    this.#start = start;
    this.#opened = this.#open();
    this.#opened.catch(() => {}); // feed and close report it
    this.decided.catch(() => {});
  }

  /** The newest verdict. One that permits is provisional. */
  get verdict(): Verdict | undefined {
    return this.#lines?.verdict;
  }

  /** The call is refused before its end: stop the model. `close` returns the outcome. */
  get refused(): boolean {
    return this.#lines?.final !== undefined && this.#closed === undefined;
  }

  /** Resolves when the gate has decided, which before `close` is a refusal; rejects when the call failed. */
  get decided(): Promise<void> {
    return this.#opened.then(({ lines }) => lines.ended).then(() => {});
  }

  /** Sends the next part of the arguments and returns the newest verdict. */
  async feed(chunk: string | Uint8Array): Promise<Verdict | undefined> {
    if (this.#closed !== undefined) throw new StopgateError("the call is closed");
    const { exchange, lines } = await this.#opened;
    lines.check();
    const text = this.#text(chunk, { exchange, lines });
    if (lines.final === undefined && text !== "") {
      this.#sent += Buffer.byteLength(text);
      await this.#limited({ exchange, lines }, exchange.write(text));
      lines.check();
    }
    return lines.verdict;
  }

  /** Ends the arguments and returns the outcome. */
  close(): Promise<Outcome> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Abandons the call, one that is being closed too: its `close` rejects. After that it has no effect. */
  async cancel(): Promise<void> {
    if (this.#over) return;
    const error = new StopgateError("the call was cancelled");
    this.#stop.abort(error);
    this.#closed ??= Promise.reject(error);
    this.#closed.catch(() => {});
    const opened = await this.#opened.catch(() => undefined);
    opened?.exchange.cancel(error);
    opened?.lines.fail(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel();
  }

  async #open(): Promise<Opened> {
    const { connection, tool, members } = this.#start;
    const session = await this.#start.session;
    const asking = new Asking(connection, session);
    const headers = { ...(await connection.callHeaders(session)), "content-type": "application/octet-stream" };
    const lines = new Lines(tool, session.id, (approval) => void asking.ask({ approval })?.catch((error: Error) => lines.fail(error)));
    this.#lines = lines;
    const exchange = connection.transport.open({ method: "POST", path: "/v1/calls/stream", headers, body: `${encode(members(session))}\n` }, lines);
    const { signal } = this.#start;
    const abort = (): void => {
      const reason = reasonOf(signal);
      exchange.cancel(reason);
      lines.fail(reason);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    lines.ended.catch(() => asking.abandon()).finally(() => signal?.removeEventListener("abort", abort));
    return { exchange, lines, asking };
  }

  async #close(): Promise<Outcome> {
    const { connection, wait, signal } = this.#start;
    const { exchange, lines, asking } = await this.#opened;
    const early = lines.final !== undefined;
    if (!early) this.#complete({ exchange, lines });
    exchange.end();
    const answer = await this.#limited({ exchange, lines }, lines.ended);
    if (answer.status === "allowed" && (early || answer.bytes !== this.#sent)) {
      throw new BadAnswer(`the gate allowed ${answer.bytes} bytes of arguments, not ${this.#sent}; the call must not run`);
    }
    const ends = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal]);
    const outcome = connection.outcome(await connection.settle(answer, asking, wait, ends), asking);
    ends.throwIfAborted();
    this.#over = true;
    return outcome;
  }

  /** Awaits a step of the gate, at most until the deadline, which ends the call. */
  async #limited<T>(to: Channel, step: Promise<T>): Promise<T> {
    const { timeout } = this.#start.connection;
    const timer = setTimeout(() => this.#abort(to, timedOut(timeout)), timeout);
    try {
      return (await Promise.race([step, to.lines.ended.then(() => step)])) as T;
    } finally {
      clearTimeout(timer);
    }
  }

  #abort({ exchange, lines }: Channel, error: Error): void {
    exchange.cancel(error);
    lines.fail(error);
  }

  /** The text of a chunk; the first half of a surrogate pair waits for the second. */
  #text(chunk: string | Uint8Array, to: Channel): string {
    try {
      if (typeof chunk !== "string") this.#decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      const text = this.#high + (typeof chunk === "string" ? chunk : (this.#decoder?.decode(chunk, { stream: true }) ?? ""));
      this.#high = isHigh(text.charCodeAt(text.length - 1)) ? text.slice(-1) : "";
      const whole = text.slice(0, text.length - this.#high.length);
      if (whole.isWellFormed()) return whole;
    } catch {} // not UTF-8
    throw this.#malformed(to);
  }

  /** Reports arguments that end within a character. */
  #complete(to: Channel): void {
    try {
      this.#decoder?.decode();
      if (this.#high === "") return;
    } catch {} // an incomplete sequence of bytes
    throw this.#malformed(to);
  }

  #malformed(to: Channel): BadArguments {
    const error = new BadArguments("the arguments are not well-formed text: UTF-8, or UTF-16 without lone surrogates");
    this.#abort(to, error);
    return error;
  }
}

/** The way of one call to the gate and back. */
interface Channel {
  readonly exchange: Exchange;
  readonly lines: Lines;
}

interface Opened extends Channel {
  readonly asking: Asking;
}

/** The lines of a streamed answer. */
class Lines {
  verdict: Verdict | undefined;
  final: Answer | undefined;
  /** The last line; rejects if there is none. */
  readonly ended: Promise<Answer>;
  readonly #tool: string;
  readonly #session: string;
  readonly #ask: (approval: Partial<Approval> & { id: string }) => void;
  #status = 0;
  #kind = "";
  #partial = "";
  #error: Error | undefined;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: Error) => void;

  constructor(tool: string, session: string, ask: (approval: Partial<Approval> & { id: string }) => void) {
    this.#tool = tool;
    this.#session = session;
    this.#ask = ask;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.ended.catch(() => {}); // feed and close report it
  }

  /** Throws the error that ended the call. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status;
    this.#kind = headers["content-type"] ?? "";
  }

  text(part: string): void {
    this.#partial += part;
    if (this.#partial.length > maxResponse) return this.fail(new BadAnswer("the answer is too long"));
    if (this.#status !== 200) return;
    const lines = this.#partial.split("\n");
    this.#partial = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  end(): void {
    if (this.#status !== 200) this.fail(problemOf(this.#status, this.#kind, this.#partial));
    else if (this.final === undefined) this.fail(new BadAnswer("the answer broke off; the call must not run"));
  }

  fail(error: Error): void {
    if (this.final !== undefined) return;
    this.#error ??= error;
    this.#reject(this.#error);
  }

  #line(line: string): void {
    if (this.#error !== undefined || this.final !== undefined) return;
    try {
      const { verdict, call, approval } = parseObject(line);
      if (verdict !== undefined) this.verdict = readVerdict(verdict);
      if (approval !== undefined) this.#ask(approval as Partial<Approval> & { id: string });
      if (call === undefined) return;
      const answer = readAnswer((call ?? {}) as Record<string, unknown>, { tool: this.#tool, session: this.#session });
      this.verdict = answer;
      this.final = answer;
      this.#resolve(answer);
    } catch (error) {
      this.fail(error as Error);
    }
  }
}
