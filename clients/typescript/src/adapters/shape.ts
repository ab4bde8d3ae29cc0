/** Results of Claude Code's tools with another text. Claude Code shows its model the original if the structure of the new result differs. */

const texts = new Set(["stdout", "content", "text", "output", "result", "message"]);
const kinds = new Set(["type", "mode", "status", "kind"]);

/** Returns a result of the same structure that contains the text, and nothing else of the original. */
export function sameShape(tool: string, result: unknown, text: string): unknown {
  if (typeof result !== "object" || result === null) return text;
  if (Array.isArray(result)) return [{ type: "text", text }]; // content of an MCP result
  if (tool === "Read") return { type: "text", file: { filePath: "", content: text, numLines: 1, startLine: 1, totalLines: 1 } }; // of images, too
  return emptied("", result, text);
}

function emptied(name: string, value: unknown, text: string): unknown {
  if (typeof value === "string") {
    if (texts.has(name)) return text;
    return kinds.has(name) && /^[a-z_-]{0,29}$/.test(value) ? value : "";
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return [];
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, emptied(key, member, text)]));
}
