/** A service: policies by kind, and the answers that they give to the questions of a gate. */

import { type Decision, encodeDecision, encodeOpinion, Invalid, type Opinion, strictest } from "./decision.js";
import { answerEvent, type EventPolicy, hooksOf } from "./events.js";
import { listen, type Server } from "./server.js";

type Json = Record<string, unknown>;
type Awaitable<T> = T | Promise<T>;

/** A tool call, or with `to` a handoff. `args` are the arguments that would run; numbers that JavaScript cannot hold exactly are not exact, `raw` of a gate has their text. */
export interface Call {
  readonly proposal: string;
  readonly tool: string;
  readonly args: any;
  readonly raw?: string;
  readonly to?: string;
  readonly server?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly turn?: string;
  readonly call_id?: string;
  readonly principal?: string;
  readonly surface?: string;
  /** The data of the session, which session policies see. */
  readonly data?: Readonly<Json> | null;
}

/** The result of a call that did not fail. `succeeded` is false where only its end is known. */
export interface Result {
  readonly succeeded: boolean;
  readonly observed: boolean;
  readonly bytes: number;
  readonly content?: string;
}

/** A stateful constraint on the calls of a session. `state` is JSON that begins as {}; onResult changes it, what check changes is lost. */
export interface SessionPolicy {
  readonly name: string;
  readonly tools: readonly string[];
  check(call: Call, state: any): Awaitable<Decision>;
  onResult?(call: Call, result: Result, state: any): Awaitable<void>;
}

type Check = (call: Call) => Awaitable<Decision>;
interface Rule<F> { readonly names: readonly string[]; readonly fn: F; readonly threshold: number }

/** The policies of one table `[[external]]`. `version` changes whenever their behaviour does: records have it. */
export class Service {
  readonly version: string;
  readonly #gates: Rule<Check>[] = [];
  readonly #handoffs: Rule<Check>[] = [];
  readonly #judges: Rule<(call: Call) => Awaitable<Opinion>>[] = [];
  readonly #sessions: SessionPolicy[] = [];
  #events: EventPolicy | undefined;

  constructor(options: { version: string }) {
    if (!/^\P{C}{1,128}$/u.test(options.version)) throw new RangeError("the version of a service has 1 to 128 printable characters");
    this.version = options.version;
  }

  /** Registers a function that decides about calls of tools, by names and globs. The first that denies decides; a tool that no function governs is denied. */
  gate(tools: string | readonly string[], fn: Check): this {
    this.#gates.push({ names: [tools].flat(), fn, threshold: 0 });
    return this;
  }

  /** Registers a function that decides about handoffs to agents. */
  handoff(agents: string | readonly string[], fn: Check): this {
    this.#handoffs.push({ names: [agents].flat(), fn, threshold: 0 });
    return this;
  }

  /** Registers a function that reviews calls; all of them are asked. */
  judge(tools: string | readonly string[], fn: (call: Call) => Awaitable<Opinion>, threshold = 0.5): this {
    this.#judges.push({ names: [tools].flat(), fn, threshold });
    return this;
  }

  /** Registers a session policy. */
  session(policy: SessionPolicy): this {
    if (this.#sessions.some((p) => p.name === policy.name)) throw new RangeError(`two session policies have the name ${policy.name}`);
    this.#sessions.push(policy);
    return this;
  }

  /** Registers the event policy. Several of them are several services. */
  events(policy: EventPolicy): this {
    if (this.#events !== undefined) throw new RangeError("a service has one event policy");
    this.#events = policy;
    return this;
  }

  /** Returns the value of `hooks` for the table. */
  hooks(): string[] {
    const kinds = { gate: this.#gates, handoff: this.#handoffs, session: this.#sessions, judge: this.#judges };
    return [...Object.entries(kinds).filter(([, some]) => some.length > 0).map(([name]) => name), ...(this.#events ? hooksOf(this.#events) : [])];
  }

  /** Serves on `unix:///PATH` or `http://127.0.0.1:PORT` until the server is closed. */
  serve(url: string, options: { token?: string } = {}): Promise<Server> {
    return listen((question) => this.answer(question), url, options.token);
  }

  /** Returns the answer to a question. An exception of a policy is an error in the answer, which denies. */
  async answer(question: Json): Promise<Json> {
    const head = { protocol: 1, id: question["id"], version: this.version };
    try {
      if (question["protocol"] !== 1) throw new Invalid("this service speaks version 1 of the protocol");
      return { ...head, ...(await this.#answer(question)) };
    } catch (error) {
      return { ...head, error: { code: error instanceof Invalid ? "invalid_policy_result" : "policy_error", detail: error instanceof Error ? error.name : "exception" } };
    }
  }

  async #answer(q: Json): Promise<Json> {
    const call = { ...(q["call"] as Call), data: q["data"] } as Call;
    const state = (q["state"] ?? {}) as Json;
    switch (q["ask"]) {
      case "gate":
        return decide(this.#gates, call, call.tool);
      case "handoff":
        return decide(this.#handoffs, call, call.to ?? "");
      case "judge": {
        const answers: Json[] = [{ decision: "allow", probability: 0 }];
        for (const { names, fn, threshold } of this.#judges) if (governs(names, call.tool)) answers.push(encodeOpinion(await fn(call), threshold));
        return strictest(answers);
      }
      case "session_check": {
        const answers: Json[] = [{ decision: "allow", reason: "allowed" }];
        for (const p of this.#sessions) {
          if (governs(p.tools, call.tool)) answers.push(encodeDecision(await p.check(call, structuredClone(own(state, p.name) ?? {})), "session"));
        }
        return strictest(answers);
      }
      case "session_result": {
        const r = q["result"] as { status: string; observed: boolean; bytes: number; content?: string };
        const result: Result = { succeeded: r.status === "succeeded", observed: r.observed, bytes: r.bytes, ...(r.content === undefined ? {} : { content: r.content }) };
        const after = new Map(Object.entries(structuredClone(state)));
        for (const p of this.#sessions) {
          if (p.onResult === undefined || !governs(p.tools, call.tool)) continue;
          const mine = after.get(p.name) ?? {};
          await p.onResult(call, result, mine);
          if (Object.keys(mine as Json).length > 0) after.set(p.name, mine);
        }
        const next = Object.fromEntries(after);
        return JSON.stringify(next) === JSON.stringify(state) ? {} : { state: next };
      }
      default:
        return answerEvent(this.#events ?? {}, q);
    }
  }
}

const own = (o: Json, name: string): unknown => (Object.hasOwn(o, name) ? o[name] : undefined);

async function decide(rules: Rule<Check>[], call: Call, name: string): Promise<Json> {
  let allowed: Json | undefined;
  for (const { names, fn } of rules) {
    if (!governs(names, name)) continue;
    const answer = encodeDecision(await fn(call), "gate");
    if (answer["decision"] !== "allow") return answer;
    allowed ??= answer;
  }
  return allowed ?? { decision: "deny", reason: "policy_not_configured" };
}

/** Reports whether names and globs with * and ? select a tool. */
function governs(patterns: readonly string[], name: string): boolean {
  return patterns.some((p) => new RegExp("^" + p.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, "[^]*").replace(/\?/g, "[^]") + "$").test(name));
}
