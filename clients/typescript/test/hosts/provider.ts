/** A small HTTP server that speaks the Messages API of Anthropic, streamed, and plays a Script. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { DONE, type Call, type Script } from "./script.js";

type Json = Readonly<Record<string, unknown>>;
interface Block extends Json {
  readonly type?: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly Block[];
}

/**
 * Serves the script on a loopback port while `use` runs with its base URL. `prefix` is put in front of
 * the tools' names. Requests without tools, such as those for titles, get a short text.
 */
export async function provider(script: Script, prefix: string, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(async (request, response) => {
    const body = (await read(request)) as { tools?: readonly Json[]; messages?: readonly Block[] };
    if (!request.url?.startsWith("/v1/messages") || request.url.includes("count_tokens")) {
      response.writeHead(404).end();
      return;
    }
    let calls: readonly Call[] = [];
    if (body.tools?.length) {
      script.request(body);
      for (const message of body.messages ?? []) results(script, message);
      calls = script.next();
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events(calls, prefix));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Options of the Claude Agent SDK with this provider, and without the settings of this machine. */
export function alone(url: string) {
  const { PATH, HOME, XDG_CONFIG_HOME } = process.env;
  const env = { PATH, HOME, CLAUDE_CONFIG_DIR: XDG_CONFIG_HOME, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  return { model: "scripted", settingSources: [], strictMcpConfig: true, env };
}

async function read(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString("utf8") || "{}");
}

/** Logs the results of calls in a message. */
function results(script: Script, message: Block): void {
  if (!Array.isArray(message.content)) return;
  for (const block of message.content as readonly Block[]) {
    if (block.type === "tool_result") script.read(block.tool_use_id ?? "", text(block.content), block.is_error === true);
  }
}

function text(content: Block["content"]): string {
  return typeof content === "string" ? content : (content ?? []).map((block) => block.text ?? "").join("\n");
}

function events(calls: readonly Call[], prefix: string): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const all: Json[] = [
    { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "scripted", content: [], stop_reason: null, usage } },
  ];
  const add = (index: number, block: Json, delta: Json) =>
    all.push(
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    );
  calls.forEach((call, index) => {
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(call.args) };
    add(index, { type: "tool_use", id: call.id, name: prefix + call.tool, input: {} }, delta);
  });
  if (calls.length === 0) add(0, { type: "text", text: "" }, { type: "text_delta", text: DONE });
  const reason = calls.length === 0 ? "end_turn" : "tool_use";
  all.push({ type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage }, { type: "message_stop" });
  return all.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
