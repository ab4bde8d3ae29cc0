/** A scripted chat model of LangChain, playing a Script. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { DONE, type Script } from "./script.js";

export class Scripted extends BaseChatModel {
  readonly #script: Script;

  constructor(script: Script) {
    super({});
    this.#script = script;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[]) {
    this.#script.request(messages.map((message) => message.toDict()));
    for (const message of messages) {
      if (ToolMessage.isInstance(message)) this.#script.read(message.tool_call_id, String(message.content), message.status === "error");
    }
    const calls = this.#script.next();
    const message = new AIMessage({
      content: calls.length === 0 ? DONE : "",
      tool_calls: calls.map((c) => ({ id: c.id, name: c.tool, args: { ...c.args }, type: "tool_call" as const })),
    });
    return { generations: [{ text: message.text, message }] };
  }
}
