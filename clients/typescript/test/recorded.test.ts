import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { AnthropicReader } from "../src/stream/anthropic.js";
import { ChatReader } from "../src/stream/chat.js";
import { ResponsesReader } from "../src/stream/responses.js";
import type { Fields } from "../src/stream/signal.js";

const corpus = fileURLToPath(new URL("../../../../../shared/corpus/", import.meta.url));
const readers = { "openai-chat": ChatReader, "openai-responses": ResponsesReader, "anthropic-messages": AnthropicReader };

interface Recorded {
  readonly api: string;
  readonly file: string;
  readonly names?: readonly string[];
}

/** The calls of a recorded stream that have ended. */
function read({ api, file }: Recorded): { name: string; text: string }[] {
  const reader = new readers[api as keyof typeof readers]();
  const calls = new Map<string, { name: string; text: string }>();
  const ended: { name: string; text: string }[] = [];
  for (const event of readFileSync(corpus + file, "utf8").split(/\r?\n\r?\n/)) {
    const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
    if (data === "" || data === "[DONE]") continue;
    for (const signal of reader.read(JSON.parse(data) as Fields)) {
      if (signal.kind === "start") calls.set(signal.key, { name: signal.name, text: "" });
      else if (signal.kind === "text") (calls.get(signal.key) as { text: string }).text += signal.text;
      else if (signal.kind === "end") ended.push(calls.get(signal.key) as { name: string; text: string });
    }
  }
  return ended;
}

test("recorded streams of many providers are read", () => {
  if (!existsSync(`${corpus}streams/manifest.jsonl`)) return console.log(`no recorded streams: ${corpus} is missing`);
  const manifest = readFileSync(`${corpus}streams/manifest.jsonl`, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as Recorded);
  let count = 0;
  for (const recorded of manifest.filter(({ api }) => api in readers)) {
    const left = [...(recorded.names ?? [])];
    for (const { name } of read(recorded)) {
      const at = left.findIndex((other) => name === other || name.endsWith(`.${other}`));
      assert.ok(at >= 0, `${recorded.file}: ${name}`);
      left.splice(at, 1);
      count++;
    }
  }
  assert.ok(count > 500, `${count} calls`);
});
