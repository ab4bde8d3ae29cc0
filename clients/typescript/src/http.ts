/**
 * The transport of remote gates: HTTP/1.1 or HTTPS to an address. It follows no redirects and ignores proxies of the
 * environment.
 */

import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import * as tls from "node:tls";
import { StringDecoder } from "node:string_decoder";
import { BadAnswer, BadArguments, GateUnavailable } from "./errors.js";
import { collect, type Exchange, type Limits, type Receiver, type Request, type Response, type Transport } from "./transport.js";
import { drained } from "./writable.js";

/** The transport to the gate at an address: http://HOST:PORT or https://HOST, with a path if it has one. */
export class Http implements Transport {
  readonly #base: URL;
  readonly #token: string | undefined;
  readonly #agent: http.Agent;
  #closed = false;

  constructor(address: string, token: string | undefined) {
    this.#base = baseOf(address);
    this.#token = token;
    this.#agent = direct(this.#base);
  }

  send(request: Request, limits: Limits): Promise<Response> {
    return collect((receiver) => {
      const exchange = this.open(request, receiver, false);
      return exchange.cancel;
    }, limits);
  }

  open(request: Request, receiver: Receiver, open = true): Exchange {
    if (this.#closed) throw new GateUnavailable("the gate object is closed");
    const module = this.#base.protocol === "https:" ? https : http;
    const body = Buffer.from(request.body ?? "");
    const headers: Record<string, string> = { "user-agent": "stopgate-client", ...request.headers };
    if (this.#token !== undefined) headers["authorization"] ??= `Bearer ${this.#token}`;
    if (!open) headers["content-length"] = String(body.length);
    if (request.method !== "GET") headers["content-type"] ??= "application/json";
    const out = module.request(new URL(this.#base.href.replace(/\/$/, "") + request.path), { method: request.method, agent: this.#agent, headers });
    if (request.background) out.on("socket", (socket) => socket.unref?.());
    let over = false;
    const finish = (how: () => void): void => {
      if (over) return;
      over = true;
      how();
    };
    const fail = (error: Error): void => finish(() => receiver.fail(error));
    out.on("error", (error) => fail(new GateUnavailable(`no gate answers at ${this.#base.host}: ${error.message}`)));
    out.on("close", () => fail(new GateUnavailable("the connection to the gate ended before its answer")));
    out.on("response", (response) => {
      const decoder = new StringDecoder("utf8");
      if (!over) receiver.head(response.statusCode ?? 0, Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])));
      response.on("data", (part: Buffer) => {
        if (!over) receiver.text(decoder.write(part));
      });
      response.on("end", () => {
        finish(() => (response.complete ? receiver.end() : receiver.fail(new BadAnswer("the answer broke off"))));
        if (!out.writableEnded) out.destroy();
      });
      response.on("error", () => fail(new GateUnavailable("the answer of the gate broke off")));
    });
    if (open) out.flushHeaders();
    if (body.length > 0) out.write(body);
    if (!open) out.end();
    return {
      write: async (text) => {
        if (!over && !out.writableEnded && !out.write(text)) await drained(out);
      },
      end: () => void (over || out.end()),
      cancel: () => {
        over = true;
        out.destroy();
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#agent.destroy();
  }
}

/** An agent that connects to the gate itself: without one of its own Bun and Deno use a proxy of the environment. */
function direct({ protocol, hostname, port }: URL): http.Agent {
  const host = hostname.replace(/^\[|\]$/g, ""); // of an IPv6 address
  const options = { keepAlive: true, maxFreeSockets: 16 };
  if (protocol === "http:") {
    const agent = new http.Agent(options);
    return Object.assign(agent, { createConnection: () => net.connect({ host, port: Number(port || 80) }) });
  }
  const servername = net.isIP(host) === 0 ? host : "";
  const agent = new https.Agent(options);
  return Object.assign(agent, { createConnection: () => tls.connect({ host, port: Number(port || 443), servername, ALPNProtocols: ["http/1.1"] }) });
}

function baseOf(address: string): URL {
  const at = URL.canParse(address) ? new URL(address) : undefined;
  const good = at !== undefined && (at.protocol === "http:" || at.protocol === "https:") && at.username === "" && at.password === "" && at.search === "" && at.hash === "";
  if (!good) throw new BadArguments(`the address of a gate is http://HOST:PORT or https://HOST, not ${JSON.stringify(address)}`);
  return at;
}
