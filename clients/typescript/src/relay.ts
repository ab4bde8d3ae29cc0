/**
 * The transport of local gates: a child process, `stopgate connect`, finds or starts the gate of this user, checks that it
 * is the right one, and relays requests. Both sides write one JSON object per line.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { BadAnswer, GateUnavailable } from "./errors.js";
import { collect, type Exchange, type Limits, type Receiver, type Request, type Response, timedOut, type Transport } from "./transport.js";
import { isHigh } from "./utf16.js";
import { drained } from "./writable.js";

/** The longest line of either side in bytes. */
const maxFrame = 16 << 20;

/** Longer bodies are sent in parts of this many characters. */
const maxPart = 1 << 20;

/** How long a child may take to end, in milliseconds. */
const grace = 1000;

/** How the child is started. */
export interface RelayOptions {
  readonly binary: string;
  readonly args: readonly string[];
  /** Milliseconds until the child must have reached a gate. */
  readonly timeout: number;
}

/** The relay of one gate object. It starts another child if the first one ends. */
export class Relay implements Transport {
  /** The gate lets programs answer questions of their own sessions. */
  programs = true;
  readonly #options: RelayOptions;
  #child: Child | undefined;
  #closed = false;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Starts the child and waits until it has reached a gate. */
  async start(): Promise<void> {
    await this.#running().ready;
  }

  send(request: Request, limits: Limits): Promise<Response> {
    return collect((receiver) => this.#running().begin(request, receiver, false).cancel, limits);
  }

  open(request: Request, receiver: Receiver): Exchange {
    return this.#running().begin(request, receiver, true);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#child?.end();
  }

  #running(): Child {
    if (this.#closed) throw new GateUnavailable("the gate object is closed");
    if (this.#child === undefined || this.#child.ended) this.#child = new Child(this.#options, (programs) => (this.programs = programs));
    return this.#child;
  }
}

/** A frame from the child. */
interface Frame {
  readonly hello?: unknown;
  readonly id?: unknown;
  readonly status?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly open?: unknown;
  readonly end?: unknown;
  readonly error?: unknown;
}

/** One child process. */
class Child {
  /** Resolves when the child has reached a gate. */
  readonly ready: Promise<void>;
  ended = false;
  readonly #process: ChildProcess;
  readonly #open = new Map<number, Receiver>();
  readonly #exited: Promise<unknown>;
  readonly #describe: (programs: boolean) => void;
  #settle: { resolve(): void; reject(error: Error): void } | undefined;
  #next = 1;
  #drained: Promise<void> | undefined;
  #partial: Buffer[] = [];
  #length = 0;
  #complaint = "";

  constructor(options: RelayOptions, describe: (programs: boolean) => void) {
    this.#describe = describe;
    this.#process = spawn(options.binary, options.args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    const timer = setTimeout(() => this.#fail(timedOut(options.timeout)), options.timeout);
    this.ready = new Promise<void>((resolve, reject) => {
      this.#settle = { resolve, reject };
    }).finally(() => clearTimeout(timer));
    this.ready.catch(() => {}); // requests report it too
    const { stdin, stdout, stderr } = this.#process;
    stdout?.on("data", (part: Buffer) => this.#read(part));
    stderr?.on("data", (part: Buffer) => (this.#complaint = (this.#complaint + part.toString()).slice(-2000)));
    stdin?.on("error", () => {}); // the end of the child is reported by close
    this.#process.on("error", (error) => this.#fail(new GateUnavailable(`cannot run ${options.binary}: ${error.message}`)));
    this.#process.on("close", (code) => {
      this.#fail(new GateUnavailable(`the relay to the gate ended (${code ?? "killed"})${this.#complaint === "" ? "" : `: ${this.#complaint.trim()}`}`));
    });
    this.#exited = new Promise((resolve) => {
      this.#process.on("exit", resolve);
      this.#process.on("error", resolve);
    });
    unref(stdin);
    unref(stderr);
    this.#process.unref();
    this.#keepRunning(false);
  }

  /** Lets open requests keep the program running. Without one the child does not: it ends with its standard input. */
  #keepRunning(keep: boolean): void {
    const stdout = this.#process.stdout as Ref | null;
    if (keep) stdout?.ref?.();
    else stdout?.unref?.();
  }

  /** Sends a request, whole or with an open body. */
  begin(request: Request, receiver: Receiver, open: boolean): Exchange {
    const id = this.#next++;
    this.#open.set(id, receiver);
    if (this.#open.size === 1) this.#keepRunning(true);
    const [first = "", ...rest] = pieces(request.body ?? "");
    const more = open || rest.length > 0;
    const { method, path, headers } = request;
    void this.#write({ id, method, path, headers, body: first, ...(more ? { open: true } : {}) });
    rest.forEach((body, i) => void this.#write({ id, body, ...(open || i < rest.length - 1 ? {} : { end: true }) }));
    let ended = !open;
    const send = async (frame: object): Promise<void> => {
      if (!ended && this.#open.has(id)) await this.#write({ id, ...frame });
    };
    return {
      write: async (text) => {
        for (const body of pieces(text)) await send({ body });
      },
      end: () => {
        void send({ body: "", end: true });
        ended = true;
      },
      cancel: () => {
        if (this.#forget(id)) void this.#write({ id, cancel: true });
      },
    };
  }

  /** Ends the child and waits for it. */
  async end(): Promise<void> {
    this.#process.ref(); // this is awaited
    this.#fail(new GateUnavailable("the gate object is closed"), false);
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), grace);
    await this.#exited;
    clearTimeout(timer);
    this.#process.stdout?.destroy();
    this.#process.stderr?.destroy();
  }

  #forget(id: number): boolean {
    const known = this.#open.delete(id);
    if (this.#open.size === 0) this.#keepRunning(false);
    return known;
  }

  #write(frame: object): Promise<void> {
    const { stdin } = this.#process;
    if (this.ended || stdin === null) return Promise.resolve();
    if (stdin.write(`${JSON.stringify(frame)}\n`)) return Promise.resolve();
    this.#drained ??= drained(stdin).then(() => {
      this.#drained = undefined;
    });
    return this.#drained;
  }

  #read(part: Buffer): void {
    let start = 0;
    for (let end = part.indexOf(10); end >= 0 && !this.ended; end = part.indexOf(10, start)) {
      this.#partial.push(part.subarray(start, end));
      const line = this.#partial.length === 1 ? part.subarray(start, end) : Buffer.concat(this.#partial);
      this.#partial = [];
      this.#length = 0;
      start = end + 1;
      this.#frame(line);
    }
    if (start < part.length) {
      this.#partial.push(part.subarray(start));
      this.#length += part.length - start;
      if (this.#length > maxFrame) this.#fail(new BadAnswer("the relay wrote a line that is too long"));
    }
  }

  #frame(line: Buffer): void {
    let frame: Frame;
    try {
      frame = JSON.parse(line.toString()) as Frame;
      if (typeof frame !== "object" || frame === null) throw new Error("not an object");
    } catch {
      return this.#fail(new BadAnswer("the relay wrote a line that is not a JSON object"));
    }
    if (this.#settle !== undefined) return this.#greet(frame);
    if (typeof frame.id !== "number") return this.#fail(frame.error === undefined ? new BadAnswer("the relay wrote a line without an id") : errorOf(frame.error));
    const receiver = this.#open.get(frame.id);
    if (receiver === undefined) return; // cancelled
    const last = frame.error !== undefined || frame.end === true || (frame.status !== undefined && frame.open !== true);
    if (last) this.#forget(frame.id);
    if (frame.error !== undefined) return receiver.fail(errorOf(frame.error));
    if (frame.status !== undefined) {
      if (typeof frame.status !== "number" || typeof frame.headers !== "object" || frame.headers === null) return this.#fail(new BadAnswer("the relay wrote a malformed response"));
      receiver.head(frame.status, frame.headers as Record<string, string>);
    }
    if (typeof frame.body === "string" && frame.body !== "") receiver.text(frame.body);
    if (last) receiver.end();
  }

  /** Processes the first frame. */
  #greet(frame: Frame): void {
    const { protocol, gate } = (frame.hello ?? {}) as { protocol?: unknown; gate?: { programs?: unknown } };
    if (frame.error !== undefined) return this.#fail(errorOf(frame.error));
    if (protocol !== 1) return this.#fail(new BadAnswer(`the relay speaks protocol ${JSON.stringify(protocol) ?? "of another kind"}, not 1: install one version of client and program`));
    this.#describe(gate?.programs === true);
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.resolve();
  }

  /** Ends the child, and every open request with an error. */
  #fail(error: Error, kill = true): void {
    if (this.ended) return;
    this.ended = true;
    this.#settle?.reject(error);
    this.#settle = undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const receiver of open) receiver.fail(error);
    this.#process.stdin?.end();
    if (kill) this.#process.kill();
  }
}

/** What keeps a program running while it is open. */
interface Ref {
  ref?(): void;
  unref?(): void;
}

function unref(stream: unknown): void {
  (stream as Ref | null)?.unref?.();
}

function errorOf(error: unknown): GateUnavailable {
  const { code, detail } = (typeof error === "object" && error !== null ? error : {}) as { code?: unknown; detail?: unknown };
  const text = typeof detail === "string" && detail !== "" ? detail : "no gate answers";
  return new GateUnavailable(typeof code === "string" ? `${text} (${code})` : text);
}

/** Cuts a text into parts for frames, never within a surrogate pair. */
function pieces(text: string): string[] {
  if (text.length <= maxPart) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + maxPart, text.length);
    if (end < text.length && isHigh(text.charCodeAt(end - 1))) end--;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
