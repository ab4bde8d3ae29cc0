/**
 * The shop of the examples: its tools, its policy, the person who is asked, and the script of its model.
 *
 * The model is a script, so that the examples run without a key; with a key, give the agent a real one.
 */
import { fileURLToPath } from "node:url";
import { type Question, yes } from "@stopgate/client";

export const POLICY = fileURLToPath(new URL("../python/shop.toml", import.meta.url));
export const MESSAGE = "Refund order 7.";

export const SCRIPT = [
  { id: "1", tool: "read_order", args: { order: "7" } },
  { id: "2", tool: "refund", args: { order: "7", amount: 20 } },
  { id: "3", tool: "refund", args: { order: "7", amount: 120 } },
  { id: "4", tool: "refund", args: { order: "7", amount: 900 } },
] as const;

export function readOrder({ order }: { order: string }): string {
  console.log(`ran: read_order ${order}`);
  return `order ${order}: a lamp for 900`;
}

export function refund({ order, amount }: { order: string; amount: number }): string {
  console.log(`ran: refund ${order} ${amount}`);
  return `refunded ${amount}`;
}

/** Answers for the person in front of the program: a dialog of your own. */
export function person(question: Question) {
  console.log(`asked: ${question.tool} ${(question.args as { amount: number }).amount}: ${question.public}`);
  return yes();
}
