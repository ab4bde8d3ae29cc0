/** Sessions: the calls, texts and data that belong together. */

import type { AsyncLocalStorage } from "node:async_hooks";
import type { Connection, SessionRef } from "./connection.js";
import { BadAnswer, Problem } from "./errors.js";
import { encode } from "./exact.js";

/** A source of texts. */
export type Source = "user" | "system" | "results";

/** How a session begins. */
export interface SessionOptions {
  /** A name of the program's own, such as the id of a conversation. By default one that nobody can guess. */
  readonly id?: string;
  /** The data that conditions of policies look at. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The first message of the person. */
  readonly userText?: string;
  /** The instructions of the operator. */
  readonly systemText?: string;
  /** The agent of its calls. */
  readonly agent?: string;
  /** Sources whose texts the program reports completely, beyond those that it reports with user() and system(). */
  readonly known?: readonly Source[];
}

/** A session. `run` makes it the current one of everything that a function calls. */
export class Session implements SessionRef {
  readonly id: string;
  readonly agent: string | undefined;
  readonly #key: string | undefined; // private: console.log would print it
  readonly #connection: Connection;
  readonly #current: AsyncLocalStorage<Session>;
  readonly #known: Set<Source>;

  /** @internal */
  constructor(connection: Connection, current: AsyncLocalStorage<Session>, id: string, key: string | undefined, options: SessionOptions) {
    this.id = id;
    this.#key = key;
    this.agent = options.agent;
    this.#connection = connection;
    this.#current = current;
    this.#known = new Set(options.known);
  }

  /** The key of this program; undefined where another program began the session, and at remote gates. */
  get key(): string | undefined {
    return this.#key;
  }

  /** Runs a function with this session as the current one, across await. */
  run<T>(fn: () => T): T {
    return this.#current.run(this, fn);
  }

  /** Reports a message of the person. Nothing that a model or a tool wrote may be reported with it. */
  user(text: string, id?: string): Promise<void> {
    return this.#text("user", text, id);
  }

  /** Reports an instruction of the operator. */
  system(text: string, id?: string): Promise<void> {
    return this.#text("system", text, id);
  }

  /** Reports the result of a tool whose call this gate did not decide. */
  result(text: string, from: { readonly tool?: string; readonly callId?: string } = {}): Promise<void> {
    return this.#texts({ source: "tool", text, tool: from.tool, call_id: from.callId });
  }

  /** Sets the data that conditions of policies look at. */
  setData(data: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#post("PUT", "data", data);
  }

  /** Reports that a person gave the approval with this name, for `approvals` of session policies. */
  approved(name: string): Promise<void> {
    return this.#post("POST", "facts", { approved: name });
  }

  /** Reports that the person sent a message: denials in a row are counted anew. */
  spoke(): Promise<void> {
    return this.#post("POST", "facts", { spoke: true });
  }

  #text(source: "user" | "system", text: string, id: string | undefined): Promise<void> {
    this.#known.add(source);
    return this.#texts({ source, text, id });
  }

  async #texts(text: object): Promise<void> {
    await this.#connection.request({ ...this.#request("texts"), body: encode({ texts: [text], known: [...this.#known] }) });
  }

  #post(method: "PUT" | "POST", what: string, body: object): Promise<void> {
    return this.#connection.command({ ...this.#request(what), method, body: encode(body) });
  }

  #request(what: string): { method: "POST"; path: string; headers: Record<string, string> } {
    return { method: "POST", path: `/v1/sessions/${encodeURIComponent(this.id)}/${what}`, headers: this.key === undefined ? {} : { "stopgate-session-key": this.key } };
  }
}

/** How many sessions a gate object remembers by their names. */
const maxRemembered = 10_000;

/** The sessions of one gate object. */
export class Sessions {
  readonly #connection: Connection;
  readonly #current: AsyncLocalStorage<Session>;
  readonly #keys: boolean;
  readonly #named = new Map<string, Promise<Session>>();
  #own: Promise<Session> | undefined;

  constructor(connection: Connection, current: AsyncLocalStorage<Session>, keys: boolean) {
    this.#connection = connection;
    this.#current = current;
    this.#keys = keys;
  }

  /** Begins a session. */
  async begin(options: SessionOptions): Promise<Session> {
    const session = options.id === undefined ? await this.#begin(options) : await this.#remember(options.id, options);
    if (options.data !== undefined) await session.setData(options.data);
    if (options.systemText !== undefined) await session.system(options.systemText);
    if (options.userText !== undefined) await session.user(options.userText);
    return session;
  }

  /** The session of a call: the given one, the current one, or that of the gate object. */
  resolve(given: Session | string | undefined): Session | Promise<Session> {
    const session = given ?? this.#current.getStore();
    if (session instanceof Session) return session;
    if (session !== undefined) return this.#named.get(session) ?? this.#remember(session, {});
    this.#own ??= this.#begin({}).catch((error: unknown) => {
      this.#own = undefined;
      throw error;
    });
    return this.#own;
  }

  #remember(id: string, options: SessionOptions): Promise<Session> {
    const known = this.#named.get(id);
    const session = known === undefined ? this.#begin({ ...options, id }) : known.then(({ key }) => new Session(this.#connection, this.#current, id, key, options));
    this.#named.delete(id);
    this.#named.set(id, session);
    session.catch(() => this.#named.get(id) === session && this.#named.delete(id));
    const [oldest] = this.#named.keys();
    if (this.#named.size > maxRemembered && oldest !== undefined) this.#named.delete(oldest);
    return session;
  }

  async #begin(options: SessionOptions): Promise<Session> {
    const { id } = options;
    if (id !== undefined && !this.#keys) return new Session(this.#connection, this.#current, id, undefined, options);
    try {
      const { session, key } = await this.#connection.request({ method: "POST", path: "/v1/sessions", ...(this.#keys ? { body: encode({ session: id }) } : {}) });
      if (typeof session !== "string" || session === "" || (id !== undefined && session !== id)) throw new BadAnswer("the gate began another session");
      return new Session(this.#connection, this.#current, session, typeof key === "string" ? key : undefined, options);
    } catch (error) {
      // The session has begun already, and its key belongs to another program.
      if (id !== undefined && error instanceof Problem && error.status === 409) return new Session(this.#connection, this.#current, id, undefined, options);
      throw error;
    }
  }
}
