export const Stopgate = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask({
      event: "tool_call", session_id: input.sessionID, cwd: directory, tool: input.tool, args: output.args ?? {}, id: input.callID,
    });
    if (answer.block) throw new Error(answer.reason);
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask({
      event: "tool_result", session_id: input.sessionID, cwd: directory, tool: input.tool, args: input.args ?? {}, id: input.callID,
      result: output.output ?? output.content ?? null,
    });
    if (!answer.block) return;
    if (Array.isArray(output.content)) output.content = [{ type: "text", text: answer.reason }];
    if ("output" in output || !output.content) output.output = answer.reason;
    if (output.attachments) output.attachments = [];
  },
  "chat.message": async (input) => {
    await ask({ event: "UserPromptSubmit", session_id: input.sessionID, cwd: directory });
  },
});
