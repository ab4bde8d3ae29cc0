/** Reads answers about calls. An answer that contradicts the request, or itself, is an error. */

import { BadAnswer } from "./errors.js";
import type { Answer as WireAnswer, Approval, Verdict } from "./models.js";

/** What the answer must be about. `bytes` is the size of the arguments that were sent, if all of them were. */
export interface Expected {
  readonly tool: string;
  readonly session: string;
  readonly bytes?: number;
  /** The id of the call, if it has one. An edited call has an id of its own. */
  readonly id?: string;
}

/** An answer of the gate about a call. */
export type Answer = Omit<WireAnswer, "args" | "raw" | "approval"> & {
  /** The arguments that must run, byte for byte; present if and only if the call is allowed. */
  readonly args_text?: string;
  /** The question, or its answer; all of it for the program that asked to be the approver. */
  readonly approval?: Partial<Approval> & { readonly id: string; readonly edited?: boolean };
};

const modes = new Set<unknown>(["unattended", "ask", "edit", "skip", "deny"]);
const statuses = new Set<unknown>(["allowed", "denied", "skipped", "pending"]);

/** The answer in a response. */
export function readAnswer(value: Record<string, unknown>, expected: Expected): Answer {
  const { id, tool, session = "", status, mode, bytes, enforced, args_text: text, approval } = value;
  const fail = (why: string): never => {
    throw new BadAnswer(`the answer of the gate ${why}; the call must not run`);
  };
  if (tool !== expected.tool) fail(`is about the tool ${JSON.stringify(tool)}`);
  if (session !== expected.session) fail(`is about the session ${JSON.stringify(session)}`);
  if (!statuses.has(status) || !modes.has(mode)) fail(`has the unknown status ${JSON.stringify(status)} or mode ${JSON.stringify(mode)}`);
  if (typeof id !== "string" || id === "" || typeof enforced !== "boolean" || typeof bytes !== "number") fail("lacks members");
  if (approval !== undefined && (typeof approval !== "object" || approval === null || typeof (approval as { id?: unknown }).id !== "string")) fail("has a malformed question");
  const edited = (approval as { edited?: unknown } | undefined)?.edited === true;
  if (expected.id !== undefined && id !== expected.id && (status === "allowed" || status === "pending") && !edited) fail(`is about the call ${JSON.stringify(id)}`);
  if (status !== "allowed") return { ...(value as unknown as Answer), args_text: "" };
  if (typeof text !== "string" || text === "") fail("allows the call without args_text; the gate may be older than this package");
  if (enforced && (mode === "deny" || mode === "skip")) fail(`allows the call with the mode ${mode}`);
  if (expected.bytes !== undefined && bytes !== expected.bytes) fail(`is about ${String(bytes)} bytes of arguments, not ${expected.bytes}`);
  return value as unknown as Answer;
}

/** The verdict in a line of a streamed answer. */
export function readVerdict(value: unknown): Verdict {
  if (typeof value !== "object" || value === null || !modes.has((value as { mode?: unknown }).mode)) throw new BadAnswer("the gate reported a malformed verdict");
  return value as Verdict;
}
