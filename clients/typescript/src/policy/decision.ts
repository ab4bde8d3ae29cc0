/** Decisions of policies. */

export type Word = "allow" | "ask" | "deny";

/** The answer of a gate or a session policy. `reason` is a code, `publicReason` a sentence that models and people read. */
export interface Decision {
  readonly decision: Word;
  readonly reason: string;
  readonly publicReason?: string;
  readonly denyMode?: "throw" | "tool_result";
  readonly detail?: string;
  readonly missing?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The answer of a judge. Without `decision` its threshold decides. It only tightens. */
export interface Opinion {
  readonly probability: number;
  readonly decision?: Word;
  readonly explanation?: string;
  readonly publicReason?: string;
}

/** The parts of a decision besides its kind, code and sentence. */
export type More = Omit<Decision, "decision" | "reason" | "publicReason">;

/** Permits the call: no objection. */
export const allow = (reason = "allowed"): Decision => ({ decision: "allow", reason });

/** Refuses the call. */
export const deny = (reason: string, publicReason?: string, more: More = {}): Decision => ({ decision: "deny", reason, ...(publicReason === undefined ? {} : { publicReason }), ...more });

/** Objects in a session policy so that a person may overrule it for this one call. */
export const ask = (reason: string, publicReason?: string, more: More = {}): Decision => ({ ...deny(reason, publicReason, more), decision: "ask" });

/** A policy returned something that is no decision: the call is denied invalid_policy_result. */
export class Invalid extends Error {}

type Json = Record<string, unknown>;

/** Returns the members of an answer. It throws Invalid for a decision that has no valid form. */
export function encodeDecision(value: unknown, kind: "gate" | "session"): Json {
  const d = value as Decision | null | undefined;
  const words = kind === "gate" ? ["allow", "deny"] : ["allow", "ask", "deny"];
  if (typeof d !== "object" || d === null || !words.includes(d.decision)) throw new Invalid(`a ${kind} returned no decision`);
  if (typeof d.reason !== "string" || !/^[a-z0-9_]{1,64}$/.test(d.reason)) throw new Invalid("the reason of a decision is a code of a-z, 0-9 and _");
  const out: Json = { decision: d.decision, reason: d.reason };
  if (d.publicReason) out["public_reason"] = d.publicReason;
  if (d.metadata) out["metadata"] = d.metadata;
  if (kind === "gate" && d.denyMode) out["deny_mode"] = d.denyMode;
  if (kind === "session" && d.detail) out["detail"] = d.detail;
  if (kind === "session" && d.missing?.length) out["missing"] = [...d.missing].sort();
  return out;
}

/** Returns the members of a judge's answer. It throws Invalid for a probability that is none. */
export function encodeOpinion(value: unknown, threshold: number): Json {
  const o = value as Opinion | null | undefined;
  if (typeof o !== "object" || o === null || typeof o.probability !== "number" || !(o.probability >= 0 && o.probability <= 1)) throw new Invalid("a judge returned no probability from 0 to 1");
  const out: Json = { decision: o.decision ?? (o.probability >= threshold ? "deny" : "allow"), probability: o.probability };
  if (o.explanation) out["explanation"] = o.explanation;
  if (o.publicReason) out["public_reason"] = o.publicReason;
  return out;
}

/** Returns the first of the strictest answers. */
export const strictest = (answers: Json[]): Json => {
  const rank = (a: Json): number => ["allow", "ask", "deny"].indexOf(a["decision"] as string);
  return answers.reduce((worst, a) => (rank(a) > rank(worst) ? a : worst));
};
