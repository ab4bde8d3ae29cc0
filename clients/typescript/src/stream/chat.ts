/** OpenAI Chat Completions: chunks with deltas of tool calls. A call ends when the next one of its choice begins. */

import { BadAnswer } from "../errors.js";
import { contradiction, type Fields, fields, keyOf, list, type Reader, type Signal, text } from "./signal.js";

interface Begun {
  readonly choice: string;
  readonly callId: string;
  readonly name: string;
  readonly custom: boolean;
  ended: boolean;
}

export class ChatReader implements Reader {
  readonly #calls = new Map<string, Begun>();

  read(event: Fields): Signal[] {
    return list(event["choices"]).flatMap((choice) => this.#choice(fields(choice)));
  }

  #choice(choice: Fields): Signal[] {
    const at = keyOf(choice["index"] ?? 0);
    const delta = fields(choice["delta"]);
    const signals = list(delta["tool_calls"]).flatMap((call) => this.#call(at, `${at}/${keyOf(fields(call)["index"] ?? 0)}`, fields(call)));
    if (delta["function_call"] !== undefined && delta["function_call"] !== null) {
      signals.push(...this.#call(at, `${at}/function`, { function: delta["function_call"] }));
    }
    const reason = text(choice["finish_reason"], "finish_reason");
    if (reason !== "") signals.push(...this.#finish(at, reason));
    return signals;
  }

  #call(choice: string, key: string, call: Fields): Signal[] {
    const custom = call["custom"] !== undefined;
    const tool = fields(custom ? call["custom"] : call["function"]);
    const [id, name, part] = [text(call["id"], "call id"), text(tool["name"], "tool name"), text(custom ? tool["input"] : tool["arguments"], "argument")];
    const signals: Signal[] = [];
    let begun = this.#calls.get(key);
    if (begun === undefined) {
      if (name === "") throw new BadAnswer("the stream has a call without a name; no call of it may run");
      signals.push(...this.#end(choice));
      begun = { choice, callId: id, name, custom, ended: false };
      this.#calls.set(key, begun);
      signals.push({ kind: "start", key, callId: id, name });
      if (custom) signals.push({ kind: "text", key, text: '{"input":"' });
    } else if (begun.ended || (name !== "" && name !== begun.name) || (id !== "" && id !== begun.callId)) {
      throw contradiction("a call");
    }
    if (part !== "") signals.push({ kind: "text", key, text: begun.custom ? quoted(part) : part });
    return signals;
  }

  #finish(choice: string, reason: string): Signal[] {
    if (reason !== "tool_calls" && reason !== "function_call" && reason !== "stop") return [{ kind: "cut" }];
    return this.#end(choice);
  }

  /** Ends the open calls of a choice. */
  #end(choice: string): Signal[] {
    const signals: Signal[] = [];
    for (const [key, call] of this.#calls) {
      if (call.choice !== choice || call.ended) continue;
      call.ended = true;
      if (call.custom) signals.push({ kind: "text", key, text: '"}' });
      signals.push({ kind: "end", key });
    }
    return signals;
  }
}

/** Free text within a JSON string. */
export function quoted(part: string): string {
  return JSON.stringify(part).slice(1, -1);
}
