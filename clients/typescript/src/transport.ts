/** The way to a gate: whole requests, and requests whose body and response arrive in parts. */

import { BadAnswer, GateTimeout, Problem } from "./errors.js";
import { decode } from "./exact.js";

/** One request of the decision API. */
export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The request does not keep the program running. */
  readonly background?: true;
}

/** A whole response; names of headers are in lower case. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Limits of a request: milliseconds until the whole response, and a signal that ends it. */
export interface Limits {
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** A request whose body is still being written. */
export interface Exchange {
  /** Sends a part of the body; it resolves when more can be sent. */
  write(text: string): Promise<void>;
  /** Ends the body. */
  end(): void;
  /** Abandons the request. */
  cancel(reason: Error): void;
}

/** Receives the response of an [Exchange]. Exactly one of end and fail comes last, once. */
export interface Receiver {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  text(part: string): void;
  end(): void;
  fail(error: Error): void;
}

/** One gate. No transport retries a request or follows a redirect. */
export interface Transport {
  send(request: Request, limits: Limits): Promise<Response>;
  open(request: Request, receiver: Receiver): Exchange;
  close(): Promise<void>;
}

/** The longest response: twice the longest arguments, and the other members. */
export const maxResponse = 64 << 20;

/** Starts a whole request and collects its response, at the latest until the limits. begin returns a function that abandons it. */
export function collect(begin: (receiver: Receiver) => (reason: Error) => void, limits: Limits): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = limits;
    if (signal?.aborted) return reject(reasonOf(signal));
    const response = { status: 0, headers: {}, body: "" };
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const stop = (error: Error): void => {
      fail(error);
      cancel?.(error);
    };
    const abort = (): void => stop(reasonOf(signal));
    const timer = setTimeout(() => stop(timedOut(limits.timeout)), limits.timeout);
    signal?.addEventListener("abort", abort);
    let cancel: ((reason: Error) => void) | undefined;
    try {
      cancel = begin({
        head(status, headers) {
          Object.assign(response, { status, headers });
        },
        text(part) {
          response.body += part;
          if (response.body.length > maxResponse) stop(new BadAnswer("the answer is too long"));
        },
        end() {
          settle();
          resolve(response);
        },
        fail,
      });
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** The error of a deadline. */
export function timedOut(timeout: number): GateTimeout {
  return new GateTimeout(`the gate did not answer within ${timeout} ms; the call must not run`);
}

/** The reason of an aborted signal as an error. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(`aborted: ${String(reason)}`);
}

/** The JSON object in a successful response. Other responses are errors: [Problem], or BadAnswer for what no gate sends. */
export function objectOf(response: Response): Record<string, unknown> {
  const kind = response.headers["content-type"] ?? "";
  if (response.status < 200 || response.status > 299) throw problemOf(response.status, kind, response.body);
  if (!kind.startsWith("application/json")) throw new BadAnswer(`the answer has the type ${JSON.stringify(kind.slice(0, 60))}: not one of a gate`);
  return parseObject(response.body);
}

/** Parses the text of a JSON object. */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = decode(text); // JSON.parse takes the last one of repeated members
  } catch (error) {
    throw new BadAnswer(`the answer is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadAnswer("the answer is not an object");
  return value as Record<string, unknown>;
}

/** The error of a response with an error status. */
export function problemOf(status: number, kind: string, body: string): Problem | BadAnswer {
  const notAGate = new BadAnswer(`the answer has the HTTP status ${status}: not one of a gate`);
  if (!kind.startsWith("application/problem+json")) return notAGate;
  try {
    const { code, detail } = parseObject(body);
    return typeof code === "string" && code !== "" ? new Problem(code, status, typeof detail === "string" ? detail : "") : notAGate;
  } catch {
    return notAGate;
  }
}
