/** A program with a token for approvals: it is present as an approver while it watches the questions of a remote gate. */

import { GateUnavailable } from "./errors.js";
import { type Exchange, objectOf, problemOf, type Request, timedOut, type Transport } from "./transport.js";

export class Presence {
  readonly #transport: Transport;
  readonly #timeout: number;
  #watching: Promise<void> | undefined;
  #exchange: Exchange | undefined;

  constructor(transport: Transport, timeout: number) {
    this.#transport = transport;
    this.#timeout = timeout;
  }

  /** Sends a request with the token for approvals. */
  async request(request: Request): Promise<Record<string, unknown>> {
    return objectOf(await this.#transport.send(request, { timeout: this.#timeout }));
  }

  /** Waits until the gate counts this program as present. */
  present(): Promise<void> {
    this.#watching ??= this.#watch().catch((error: unknown) => {
      this.#watching = undefined;
      throw error;
    });
    return this.#watching;
  }

  #watch(): Promise<void> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let kind = "";
      let body = "";
      const fail = (error: Error): void => {
        clearTimeout(timer);
        this.#watching = undefined;
        reject(error);
      };
      const timer = setTimeout(() => {
        const error = timedOut(this.#timeout);
        this.#exchange?.cancel(error);
        fail(error);
      }, this.#timeout);
      this.#exchange = this.#transport.open(
        { method: "GET", path: "/v1/approvals/watch", background: true },
        {
          head: (code, headers) => {
            status = code;
            kind = headers["content-type"] ?? "";
          },
          text: (part) => {
            if (status === 200) {
              clearTimeout(timer);
              resolve();
            } else body += part;
          },
          end: () => fail(status === 200 ? new GateUnavailable("the gate ended the watch of its questions") : problemOf(status, kind, body)),
          fail,
        },
      );
      this.#exchange.end();
    });
  }

  async close(): Promise<void> {
    this.#exchange?.cancel(new GateUnavailable("the gate object is closed"));
    await this.#transport.close();
  }
}
