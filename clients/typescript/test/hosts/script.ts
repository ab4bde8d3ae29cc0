/**
 * A scripted model: the turns that it plays, and a log of everything that it was sent. A driver connects
 * one Script with the model interface of its host: every request of the host goes to `request` and
 * `read`, every response comes from `next`.
 */
import assert from "node:assert/strict";

/** The text of the last turn. */
export const DONE = "done";

/** One tool call that the model makes. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The result of a call as the model was sent it. `failed` is the host's own mark of an error, undefined where the host has none. */
export interface Reading {
  readonly text: string;
  readonly failed: boolean | undefined;
}

/** Turns of calls; after the last one the model answers DONE, as often as it is asked. */
export class Script {
  played = 0;
  readonly readings = new Map<string, Reading>();
  readonly requests: string[] = [];

  readonly turns: readonly (readonly Call[])[];

  constructor(turns: readonly (readonly Call[])[]) {
    this.turns = turns;
  }

  /** Returns the calls of the next turn, none for the final text DONE. */
  next(): readonly Call[] {
    return this.turns[this.played++] ?? [];
  }

  /** Logs one request of the host, complete. */
  request(request: unknown): void {
    this.requests.push(JSON.stringify(request));
  }

  /** Logs the result of a call that a request has. Later requests repeat it, and may not change it. */
  read(id: string, text: string, failed?: boolean): void {
    const reading = { text, failed };
    const before = this.readings.get(id) ?? reading;
    assert.deepEqual(reading, before, `the result of ${id} changed`);
    this.readings.set(id, before);
  }

  /** Returns the result of a call, or fails: the model was never sent one. */
  textOf(id: string): string {
    const reading = this.readings.get(id);
    assert.ok(reading, `no result of ${id} reached the model, only of ${[...this.readings.keys()].join(", ")}`);
    return reading.text;
  }
}
