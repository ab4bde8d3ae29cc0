const place = (ctx) => ({ session_id: ctx?.sessionManager?.getSessionId?.(), cwd: ctx?.cwd ?? process.cwd() });

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const answer = await ask({ event: "tool_call", ...place(ctx), tool: event.toolName, args: event.input ?? {}, id: event.toolCallId });
    if (answer.block) return { block: true, reason: answer.reason };
  });
  pi.on("tool_result", async (event, ctx) => {
    const answer = await ask({
      event: "tool_result", ...place(ctx), tool: event.toolName, args: event.input ?? {}, id: event.toolCallId,
      result: event.content ?? null, error: event.isError === true,
    });
    if (answer.block) return { content: [{ type: "text", text: answer.reason }], details: {} };
  });
  pi.on("input", async (event, ctx) => {
    if (event.source !== "extension") await ask({ event: "UserPromptSubmit", ...place(ctx), prompt: event.text });
  });
}
