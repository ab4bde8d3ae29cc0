// A scripted provider: an HTTP server that streams the answer of a model in the form of an API.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/** A call of the model, with its arguments as text. */
export interface Scripted {
  readonly name: string;
  readonly args: string;
}

/** How the answer of the model ends. */
export type End = "whole" | "length" | "silent";

export interface Provider {
  readonly url: string;
  /** Events that were written. */
  sent: number;
  /** Resolves when the client has closed the connection before the end. */
  readonly closed: Promise<void>;
}

export type Api = "chat" | "responses" | "anthropic";

/** Starts a server that answers every request with these calls, their arguments in parts of some characters. */
export async function provider(api: Api, calls: readonly Scripted[], end: End = "whole", size = 4): Promise<Provider> {
  const events = { chat, responses, anthropic }[api](calls, end, size);
  let closed!: () => void;
  const state: Provider = { url: "", sent: 0, closed: new Promise((resolve) => (closed = resolve)) };
  const server = createServer((request, response) => {
    request.resume();
    response.on("close", () => !response.writableFinished && closed());
    response.writeHead(200, { "content-type": "text/event-stream" });
    void write(response, events, api, state);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function write(response: ServerResponse, events: readonly object[], api: Api, state: Provider): Promise<void> {
  for (const event of events) {
    if (response.destroyed) return;
    const { type } = event as { type?: string };
    response.write(`${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`);
    state.sent++;
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  response.end(api === "chat" ? "data: [DONE]\n\n" : "");
}

export function parts(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
}

export function chat(calls: readonly Scripted[], end: End, size: number): object[] {
  const chunk = (delta: object, reason: string | null = null): object => ({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] });
  return [
    chunk({ role: "assistant", content: "I call." }),
    ...calls.flatMap(({ name, args }, index) => [
      chunk({ tool_calls: [{ index, id: `id${index}`, type: "function", function: { name, arguments: "" } }] }),
      ...parts(args, size).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    ...(end === "silent" ? [] : [chunk({}, end === "whole" ? "tool_calls" : "length")]),
  ];
}

export function responses(calls: readonly Scripted[], end: End, size: number): object[] {
  const item = ({ name, args }: Scripted, index: number, done: boolean): object => ({ type: "function_call", id: `fc${index}`, call_id: `id${index}`, name, arguments: done ? args : "", status: done ? "completed" : "in_progress" });
  const ended = calls.length - (end === "whole" ? 0 : 1);
  return [
    { type: "response.created", response: { id: "r", status: "in_progress", output: [] } },
    ...calls.flatMap((call, output_index) => [
      { type: "response.output_item.added", output_index, item: item(call, output_index, false) },
      ...parts(call.args, size).map((delta) => ({ type: "response.function_call_arguments.delta", item_id: `fc${output_index}`, output_index, delta })),
      ...(output_index < ended
        ? [
            { type: "response.function_call_arguments.done", item_id: `fc${output_index}`, output_index, arguments: call.args },
            { type: "response.output_item.done", output_index, item: item(call, output_index, true) },
          ]
        : []),
    ]),
    ...(end === "whole" ? [{ type: "response.completed", response: { id: "r", status: "completed", output: calls.map((call, index) => item(call, index, true)) } }] : []),
    ...(end === "length" ? [{ type: "response.incomplete", response: { id: "r", status: "incomplete", output: [] } }] : []),
  ];
}

export function anthropic(calls: readonly Scripted[], end: End, size: number): object[] {
  return [
    { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], model: "m", stop_reason: null, usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I call." } },
    { type: "content_block_stop", index: 0 },
    ...calls.flatMap(({ name, args }, i) => [
      { type: "content_block_start", index: i + 1, content_block: { type: "tool_use", id: `id${i}`, name, input: {} } },
      { type: "content_block_delta", index: i + 1, delta: { type: "input_json_delta", partial_json: "" } },
      ...parts(args, size).map((partial_json) => ({ type: "content_block_delta", index: i + 1, delta: { type: "input_json_delta", partial_json } })),
      ...(end !== "whole" && i === calls.length - 1 ? [] : [{ type: "content_block_stop", index: i + 1 }]),
    ]),
    ...(end === "silent" ? [] : [{ type: "message_delta", delta: { stop_reason: end === "whole" ? "tool_use" : "max_tokens" }, usage: { output_tokens: 9 } }, { type: "message_stop" }]),
  ];
}
