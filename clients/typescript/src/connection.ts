/** Requests of one gate object: calls, their questions and results. */

import { randomUUID } from "node:crypto";
import { type Answer, readAnswer } from "./answer.js";
import { BadAnswer, Problem, StopgateError } from "./errors.js";
import { encode } from "./exact.js";
import { Delivery, Outcome, type RanOptions, type Reporter } from "./outcome.js";
import type { Presence } from "./presence.js";
import { bodyOf, no, type OnAsk, Question, type Reply } from "./question.js";
import { type Limits, objectOf, problemOf, reasonOf, type Request, type Response, type Transport } from "./transport.js";

/** What a connection is made of. */
export interface ConnectionOptions {
  readonly transport: Transport;
  /** Milliseconds until an answer that waits for no person. */
  readonly timeout: number;
  readonly onAsk: OnAsk | undefined;
  /** Answers questions with a token of its own; without it the keys of sessions answer theirs. */
  readonly presence: Presence | undefined;
  /** Reports whether the gate lets programs answer questions with the keys of their sessions. */
  readonly programs: () => boolean;
}

/** The session of a call: its name, and the key that permits to answer its questions. */
export interface SessionRef {
  readonly id: string;
  readonly key: string | undefined;
}

/** How long one request waits for a person, in seconds. Proxies often end requests after a minute. */
const pollSeconds = 20;

export class Connection {
  readonly transport: Transport;
  readonly timeout: number;
  readonly onAsk: OnAsk | undefined;
  readonly presence: Presence | undefined;
  readonly #programs: () => boolean;

  constructor(options: ConnectionOptions) {
    this.transport = options.transport;
    this.timeout = options.timeout;
    this.onAsk = options.onAsk;
    this.presence = options.presence;
    this.#programs = options.programs;
  }

  /** Sends a request and returns the object of its response. */
  async request(request: Request, limits: Partial<Limits> = {}): Promise<Record<string, unknown>> {
    return objectOf(await this.#send(request, limits));
  }

  /** Sends a request whose response has no content. */
  async command(request: Request): Promise<void> {
    const { status, headers, body } = await this.#send(request, {});
    if (status < 200 || status > 299) throw problemOf(status, headers["content-type"] ?? "", body);
  }

  #send(request: Request, limits: Partial<Limits>): Promise<Response> {
    return this.transport.send(request, { timeout: limits.timeout ?? this.timeout, signal: limits.signal });
  }

  /**
   * The headers of a call: its arguments as text, and that this program answers its question. The key is new for each
   * call: without one the gate would answer a call with the ids of an earlier one by its decision, and a tool would run twice on it.
   */
  async callHeaders(session: SessionRef): Promise<Record<string, string>> {
    const headers = { prefer: "args-text", "idempotency-key": randomUUID() };
    if (this.onAsk === undefined) return headers;
    await this.presence?.present();
    return this.presence === undefined && this.answers(session) ? { ...headers, "stopgate-approver": "program", ...keyOf(session) } : headers;
  }

  /** Reports whether this program may answer questions about calls of a session. */
  answers(session: SessionRef): boolean {
    return this.onAsk !== undefined && (this.presence !== undefined || (session.key !== undefined && this.#programs()));
  }

  /** The outcome of an answer. */
  outcome(answer: Answer, asking: Asking): Outcome {
    const reporter: Reporter = {
      report: (id, tool, data, options) => this.#report(id, tool, data, options),
      settle: async (pending, wait, signal) => this.outcome(await this.settle(pending, asking, wait, signal), asking),
    };
    return new Outcome(answer, reporter);
  }

  async #report(id: string, tool: string, data: string, options: RanOptions): Promise<Delivery> {
    const { failed, absent } = options;
    const body = encode({ data, failed, absent });
    return new Delivery(await this.request({ method: "POST", path: `/v1/calls/${encodeURIComponent(id)}/result`, body }), tool, data);
  }

  /** Waits for the end of a pending call, and lets the program answer its questions meanwhile. */
  async settle(pending: Answer, asking: Asking, wait: number | undefined, signal: AbortSignal | undefined): Promise<Answer> {
    const until = wait === undefined ? Number.POSITIVE_INFINITY : performance.now() + wait;
    let answer = pending;
    try {
      while (answer.status === "pending") {
        const left = until - performance.now();
        if (left <= 0) return answer;
        answer = await this.#next(answer, left, asking.ask(answer), signal);
      }
      if (signal?.aborted) throw reasonOf(signal);
    } catch (error) {
      await asking.abandon();
      throw error;
    }
    asking.end();
    return answer;
  }

  /** Waits until the call is decided, the program has answered its question, or the time is over. After an answer there may be another question. */
  async #next(answer: Answer, left: number, replied: Promise<boolean> | undefined, signal: AbortSignal | undefined): Promise<Answer> {
    const stop = new AbortController();
    const seconds = Math.min(pollSeconds, Math.ceil(left / 1000));
    const looking = this.#look(answer, seconds, signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]));
    looking.catch(() => {}); // stopped when another event comes first
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<"over">((resolve) => {
      if (left < seconds * 1000) timer = setTimeout(resolve, left, "over");
    });
    try {
      const first = await Promise.race([looking.then(() => "looked"), over, ...(replied === undefined ? [] : [replied.then(() => "replied")])]);
      if (first === "looked") return await looking;
      return first === "replied" ? await this.#look(answer, 0, signal) : answer;
    } finally {
      clearTimeout(timer);
      stop.abort(new StopgateError("the answer is not needed"));
    }
  }

  async #look(answer: Answer, seconds: number, signal: AbortSignal | undefined): Promise<Answer> {
    const prefer = seconds > 0 ? `wait=${seconds}, args-text` : "args-text";
    const request: Request = { method: "GET", path: `/v1/calls/${encodeURIComponent(answer.id)}`, headers: { prefer } };
    const value = await this.request(request, { timeout: this.timeout + seconds * 1000, signal });
    return readAnswer(value, { tool: answer.tool, session: answer.session ?? "", bytes: answer.bytes, id: answer.id });
  }

  /** Sends a reply to a question. */
  async reply(reply: Reply, question: Question, session: SessionRef): Promise<void> {
    const body = bodyOf(reply, question);
    const request: Request = { method: "POST", path: `/v1/approvals/${encodeURIComponent(question.id)}`, body };
    try {
      await (this.presence?.request(request) ?? this.request({ ...request, headers: keyOf(session) }));
    } catch (error) {
      // Another answer counts, or the question has ended: the decision about the call tells.
      if (!(error instanceof Problem && answered.has(error.code))) throw error;
    }
  }

  /** Reads a question that an answer names. */
  question(id: string, session: SessionRef): Promise<Record<string, unknown>> {
    const request: Request = { method: "GET", path: `/v1/approvals/${encodeURIComponent(id)}` };
    return this.presence?.request(request) ?? this.request({ ...request, headers: keyOf(session) });
  }
}

/** Problems of an answer after which the decision about the call comes from elsewhere. */
const answered = new Set(["already_answered", "already_used", "approval_stale", "expired", "not_found", "not_an_approver", "already_approved"]);

function keyOf(session: SessionRef): Record<string, string> {
  return session.key === undefined ? {} : { "stopgate-session-key": session.key };
}

/** The questions of one call. Of each state of a question the program is asked once, one after the other. */
export class Asking {
  readonly #connection: Connection;
  readonly #session: SessionRef;
  readonly #stop = new AbortController();
  readonly #asked = new Set<string>();
  #current: Promise<boolean> | undefined;
  #last: Question | undefined;
  #left = false; // in the queue
  #declined = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(connection: Connection, session: SessionRef) {
    this.#connection = connection;
    this.#session = session;
  }

  /**
   * Asks the program, unless it was asked already or may not answer. The promise is true when a reply was sent, and never
   * settles when the question was left in the queue.
   */
  ask(answer: Pick<Answer, "approval">): Promise<boolean> | undefined {
    const { approval } = answer;
    const { onAsk } = this.#connection;
    if (onAsk === undefined || approval === undefined || this.#left || !this.#connection.answers(this.#session)) return undefined;
    // The gate shows the question of a new call to a program that may answer it, and only names it to others.
    const shown = approval.complete !== undefined || this.#connection.presence !== undefined || this.#asked.size > 0;
    if (!shown) return undefined;
    const state = `${approval.id} ${approval.complete ?? true}`;
    if (!this.#asked.has(state)) {
      this.#asked.add(state);
      const before = this.#current ?? Promise.resolve(false);
      const current = before.then(() => this.#declined || this.#put(onAsk, approval)).finally(() => this.#current === current && (this.#current = undefined));
      current.catch(() => {}); // the caller of the call sees it
      this.#current = current;
    }
    return this.#current?.then((replied) => (replied ? true : new Promise<boolean>(() => {})));
  }

  /** Reports whether a reply was sent. A callback that fails declines, and its error is thrown. */
  async #put(onAsk: OnAsk, approval: NonNullable<Answer["approval"]>): Promise<boolean> {
    const whole = approval.complete === undefined ? await this.#connection.question(approval.id, this.#session) : approval;
    if (this.#stop.signal.aborted) return false;
    const question = new Question(whole, this.#stop.signal);
    this.#last = question;
    let reply: Reply | undefined | void;
    try {
      reply = await onAsk(question);
      if (reply !== undefined && !["approve", "deny", "edit"].includes(reply?.answer)) throw new BadAnswer("onAsk returned something else than yes(), no(), edit() or undefined");
    } catch (error) {
      this.#failure = { error };
      this.#declined = true;
      await this.#connection.reply(no("the program failed to ask a person"), question, this.#session);
      throw error;
    }
    this.#left = reply === undefined;
    if (reply === undefined || this.#stop.signal.aborted || (reply.answer !== "deny" && !question.complete)) return false;
    this.#declined = reply.answer === "deny";
    await this.#connection.reply(reply, question, this.#session);
    return true;
  }

  /** Ends the question that is shown: no answer is needed any more. Throws the error of a callback that failed. */
  end(): void {
    this.#stop.abort(new StopgateError("the call is decided"));
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Declines an open question of a call that the program has given up. */
  async abandon(): Promise<void> {
    const question = this.#last;
    this.#stop.abort(new StopgateError("the call was given up"));
    if (question !== undefined && !this.#left) await this.#connection.reply(no("the program gave the call up"), question, this.#session).catch(() => {});
  }
}
