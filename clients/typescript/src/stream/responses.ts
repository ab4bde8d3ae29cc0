/** OpenAI Responses: items of the output, some of which are calls. Copies of the arguments must be equal. */

import { BadAnswer } from "../errors.js";
import { quoted } from "./chat.js";
import { contradiction, type Fields, fields, keyOf, list, type Reader, type Signal, text } from "./signal.js";

/** Items that end with _call and run at the provider. */
const remote = new Set(["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"]);

interface Item {
  readonly callId: string;
  readonly name: string;
  readonly custom: boolean;
  text: string;
  ended: boolean;
}

export class ResponsesReader implements Reader {
  readonly #items = new Map<string, Item>();

  read(event: Fields): Signal[] {
    switch (event["type"]) {
      case "response.output_item.added":
        return this.#begin(keyOf(event["output_index"]), fields(event["item"])).signals;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#part(keyOf(event["output_index"]), text(event["delta"], "argument"));
      case "response.function_call_arguments.done":
        return this.#whole(keyOf(event["output_index"]), text(event["arguments"], "argument"));
      case "response.custom_tool_call_input.done":
        return this.#whole(keyOf(event["output_index"]), text(event["input"], "argument"));
      case "response.output_item.done":
        return this.#end(keyOf(event["output_index"]), fields(event["item"]));
      case "response.completed":
        this.#check(list(fields(event["response"])["output"]));
        return [];
      case "response.incomplete":
      case "response.failed":
      case "error":
        return [{ kind: "cut" }];
      default:
        return [];
    }
  }

  #begin(key: string, item: Fields): { signals: Signal[]; begun?: Item } {
    const type = text(item["type"], "type");
    if (type !== "function_call" && type !== "custom_tool_call") {
      const runsHere = type.endsWith("_call") && !remote.has(type) && (type !== "tool_search_call" || item["execution"] === "client");
      if (runsHere) throw new BadAnswer(`an item of the type ${type} cannot be judged; no call of this stream may run`);
      return { signals: [] };
    }
    const custom = type === "custom_tool_call";
    const [space, name] = [text(item["namespace"], "namespace"), text(item["name"], "tool name")];
    const callId = text(item["call_id"], "call id");
    const tool = space === "" ? name : `${space}.${name}`;
    const known = this.#items.get(key);
    if (known !== undefined) {
      if (known.callId !== callId || known.name !== tool || known.custom !== custom) throw contradiction("a call");
      return { signals: [], begun: known };
    }
    const begun: Item = { callId, name: tool, custom, text: "", ended: false };
    this.#items.set(key, begun);
    const signals: Signal[] = [{ kind: "start", key, callId, name: tool }];
    if (custom) signals.push({ kind: "text", key, text: '{"input":"' });
    signals.push(...this.#part(key, text(custom ? item["input"] : item["arguments"], "argument")));
    return { signals, begun };
  }

  #part(key: string, part: string): Signal[] {
    const item = this.#items.get(key);
    if (item === undefined || item.ended) throw contradiction("a call");
    item.text += part;
    return part === "" ? [] : [{ kind: "text", key, text: item.custom ? quoted(part) : part }];
  }

  /** A copy of all arguments: the rest of them, if it begins with those that are known. */
  #whole(key: string, all: string): Signal[] {
    const item = this.#items.get(key);
    if (item === undefined || !all.startsWith(item.text)) throw contradiction("the arguments");
    return this.#part(key, all.slice(item.text.length));
  }

  #end(key: string, item: Fields): Signal[] {
    const { signals, begun } = this.#begin(key, item);
    if (begun === undefined) return [];
    if (begun.ended) throw contradiction("a call");
    const status = text(item["status"], "status");
    if (status === "incomplete") return [...signals, { kind: "cut" }];
    signals.push(...this.#whole(key, text(begun.custom ? item["input"] : item["arguments"], "argument")));
    begun.ended = true;
    if (begun.custom) signals.push({ kind: "text", key, text: '"}' });
    return [...signals, { kind: "end", key }];
  }

  /** The whole output once more: it must not have other calls. */
  #check(output: readonly unknown[]): void {
    output.map(fields).forEach((item, index) => {
      const { begun } = this.#begin(String(index), item);
      if (begun === undefined) return;
      const all = text(begun.custom ? item["input"] : item["arguments"], "argument");
      if (!begun.ended || begun.text !== all) throw contradiction("a call");
    });
  }
}
