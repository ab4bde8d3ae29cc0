/** Anthropic Messages: content blocks, some of which are calls. */

import { BadAnswer } from "../errors.js";
import { encode } from "../exact.js";
import { contradiction, type Fields, fields, keyOf, type Reader, type Signal, text } from "./signal.js";

/** Tools that run at the provider. */
const remote = new Set(["server_tool_use", "mcp_tool_use"]);

export class AnthropicReader implements Reader {
  readonly #open = new Map<string, { fed: boolean }>();

  read(event: Fields): Signal[] {
    switch (event["type"]) {
      case "content_block_start":
        return this.#start(keyOf(event["index"]), fields(event["content_block"]));
      case "content_block_delta":
        return this.#delta(keyOf(event["index"]), fields(event["delta"]));
      case "content_block_stop":
        return this.#stop(keyOf(event["index"]));
      case "error":
        return [{ kind: "cut" }];
      default:
        return [];
    }
  }

  #start(key: string, block: Fields): Signal[] {
    const type = text(block["type"], "type");
    if (type !== "tool_use") {
      if (type.endsWith("tool_use") && !remote.has(type)) throw new BadAnswer(`a block of the type ${type} cannot be judged; no call of this stream may run`);
      return [];
    }
    if (this.#open.has(key)) throw contradiction("a call");
    const input = Object.keys(fields(block["input"])).length > 0 ? encode(block["input"]) : "";
    this.#open.set(key, { fed: input !== "" });
    const start: Signal = { kind: "start", key, callId: text(block["id"], "call id"), name: text(block["name"], "tool name") };
    return input === "" ? [start] : [start, { kind: "text", key, text: input }];
  }

  #delta(key: string, delta: Fields): Signal[] {
    const call = this.#open.get(key);
    if (call === undefined || delta["type"] !== "input_json_delta") return [];
    const part = text(delta["partial_json"], "argument");
    if (part === "") return [];
    call.fed = true;
    return [{ kind: "text", key, text: part }];
  }

  #stop(key: string): Signal[] {
    const call = this.#open.get(key);
    if (call === undefined) return [];
    this.#open.delete(key);
    // A call without arguments has no deltas.
    return call.fed ? [{ kind: "end", key }] : [{ kind: "text", key, text: "{}" }, { kind: "end", key }];
  }
}
