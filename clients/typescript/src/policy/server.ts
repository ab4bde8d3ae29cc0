/** HTTP on a Unix socket or a loopback port. */

import { timingSafeEqual } from "node:crypto";
import { chmodSync, existsSync, lstatSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";

type Json = Record<string, unknown>;
const maxBody = 16 << 20;

/** A running service. */
export interface Server extends AsyncDisposable {
  /** Its address, for `url` of the table. */
  readonly url: string;
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
}

/** Serves questions until the server is closed. */
export async function listen(answer: (question: Json) => Promise<Json>, url: string, token?: string): Promise<Server> {
  const at = new URL(url);
  const path = at.protocol === "unix:" && at.host === "" ? decodeURIComponent(at.pathname) : undefined;
  if (path === undefined && !(at.protocol === "http:" && ["127.0.0.1", "[::1]"].includes(at.hostname))) throw new RangeError(`${url}: want unix:///PATH or http://127.0.0.1:PORT`);
  const server = createServer((request, response) => {
    const send = (status: number, value: Json): void => {
      let body: string;
      try {
        body = JSON.stringify(value);
      } catch {
        body = JSON.stringify({ protocol: 1, id: value["id"], version: value["version"], error: { code: "invalid_policy_result" } });
      }
      response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
    };
    if (request.method !== "POST") return send(405, {});
    if (request.headers["content-type"] !== "application/json") return send(415, {});
    if (token !== undefined && !same(request.headers.authorization ?? "", `Bearer ${token}`)) return send(401, {});
    read(request)
      .then((body) => answer(JSON.parse(body) as Json))
      .then((value) => send(200, value))
      .catch(() => send(400, {}));
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (path === undefined) return void server.listen(Number(at.port), at.hostname.replace(/[[\]]/g, ""), resolve);
    void free(path).then(() => {
      const before = process.umask(0o177);
      server.listen(path, () => {
        process.umask(before);
        chmodSync(path, 0o600);
        resolve();
      });
    }, reject);
  });
  const bound = server.address();
  const where = path === undefined && typeof bound === "object" && bound ? `http://${at.hostname}:${bound.port}` : url;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: where, close, [Symbol.asyncDispose]: close };
}

/** Removes a socket that nobody serves. */
async function free(path: string): Promise<void> {
  if (!existsSync(path)) return;
  if (!lstatSync(path).isSocket()) throw new Error(`${path}: there is a file that is no socket`);
  const served = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
  if (served) throw new Error(`${path}: another process serves this socket`);
  rmSync(path);
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    if ((size += part.length) > maxBody) throw new RangeError("the question is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function same(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
