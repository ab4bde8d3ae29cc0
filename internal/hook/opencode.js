// Sessions with a parent are those of sub-agents: the model writes their prompts.
const isOfUser = async (client, id) => {
  const late = new Promise((resolve) => setTimeout(resolve, 2000));
  const session = await Promise.race([client.session.get({ path: { id } }), late]).catch(() => undefined);
  return session?.data?.id === id && !session.data.parentID;
};

export const Stopgate = async ({ directory, client }) => ({
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
  "chat.message": async (input, output) => {
    const texts = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);
    const prompt = (await isOfUser(client, input.sessionID)) ? texts.join("\n\n") : undefined;
    await ask({ event: "UserPromptSubmit", session_id: input.sessionID, cwd: directory, prompt });
  },
});
