/** Backpressure of streams. */

import type { Writable } from "node:stream";

/** Resolves when a stream that is full accepts more, or has ended. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const proceed = (): void => {
      stream.off("drain", proceed);
      stream.off("close", proceed);
      resolve();
    };
    stream.on("drain", proceed);
    stream.on("close", proceed);
  });
}
