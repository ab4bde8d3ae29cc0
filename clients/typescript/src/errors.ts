/** Errors of the client. Every one of them means: the call must not run. */

import type { Delivery, Outcome } from "./outcome.js";

/** The base of every error of this package. */
export class StopgateError extends Error {
  override name = "StopgateError";
}

/** No gate can be reached, or it ended before it answered. */
export class GateUnavailable extends StopgateError {
  override name = "GateUnavailable";
}

/** The gate did not answer within the deadline. */
export class GateTimeout extends StopgateError {
  override name = "GateTimeout";
}

/** The answer is not one of a gate, or contradicts the request. */
export class BadAnswer extends StopgateError {
  override name = "BadAnswer";
}

/** A value of the program that JSON or JavaScript cannot hold exactly. `pointer` is its place, as a JSON pointer. */
export class BadArguments extends StopgateError {
  override name = "BadArguments";
  readonly pointer: string;

  constructor(message: string, pointer = "") {
    super(pointer === "" ? message : `${pointer}: ${message}`);
    this.pointer = pointer;
  }
}

/** An error response of the gate (RFC 9457). */
export class Problem extends StopgateError {
  override name = "Problem";
  readonly code: string;
  readonly status: number;
  readonly detail: string;

  constructor(code: string, status: number, detail: string) {
    super(detail === "" ? `the gate refused the request: ${code}` : `the gate refused the request: ${detail} (${code})`);
    this.code = code;
    this.status = status;
    this.detail = detail;
  }
}

/** The call was not run, or its result is withheld (`delivery` is set). `message` is the text that the model should read. */
export class Denied extends StopgateError {
  override name = "Denied";
  readonly outcome: Outcome;
  readonly delivery: Delivery | undefined;

  constructor(outcome: Outcome, delivery?: Delivery) {
    super(delivery === undefined ? outcome.modelText : delivery.modelText);
    this.outcome = outcome;
    this.delivery = delivery;
  }

  /** The stable reason code. */
  get code(): string {
    return (this.delivery ?? this.outcome).code;
  }
}

/** The program `stopgate` was not found. */
export class ProgramMissing extends StopgateError {
  override name = "ProgramMissing";
}
