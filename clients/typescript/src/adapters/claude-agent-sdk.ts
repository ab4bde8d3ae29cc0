/**
 * Claude Agent SDK (`@anthropic-ai/claude-agent-sdk`). The gate is put into the options as hooks:
 *
 *	query({ prompt, options: guard(gate, { mcpServers, ... }) });
 */
import { BadArguments, type Gate, type Outcome } from "../index.js";
import type { Settings } from "./judged.js";
import { sameShape } from "./shape.js";

/** The members of events that the adapter uses. */
interface Event {
  readonly hook_event_name: string;
  readonly tool_name: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
  readonly tool_response: unknown;
  readonly error: string;
  readonly tool_use_id: string;
  readonly agent_type?: string;
  readonly mcp_server?: { readonly name?: string; readonly source?: string };
}
type Hook = (event: Event, id: string | undefined, options: { readonly signal: AbortSignal }) => Promise<object>;

export interface HookSettings extends Settings {
  /** In-process servers whose tools have their plain names in rules. Every other MCP tool is SERVER__TOOL there. */
  readonly own?: readonly string[];
}

const day = 86_400; // seconds; the gate ends its questions earlier

/**
 * Returns a copy of the options with hooks that ask the gate about every call, those of Claude Code's own tools and of
 * sub-agents too. If the gate fails, calls are refused and results withheld. Other PreToolUse hooks in the options are an
 * error: they could change what was judged.
 */
export function guard<O extends object>(gate: Gate, options: O, { own = [], ...settings }: HookSettings = {}): O {
  const running = new Map<string, Outcome>();

  const before: Hook = async (event, _, { signal }) => {
    const { tool, server } = named(event, own);
    const refusal = (text: string) => decision(event, "deny", text);
    let outcome;
    try {
      outcome = await gate.decide(tool, event.tool_input, { server, agent: event.agent_type, callId: event.tool_use_id, signal, ...settings });
    } catch (error) {
      return refusal(`[stopgate] The tool call \`${tool}\` was not run: ${String(error)}`);
    }
    if (!outcome.allowed) return refusal(outcome.modelText);
    if (event.hook_event_name === "PreToolUse") {
      running.set(event.tool_use_id, outcome);
      return decision(event, "allow", outcome.public, outcome.args);
    }
    // The command of a skill can be refused, not changed.
    return outcome.approval?.edited ? refusal(`[stopgate] The tool call \`${tool}\` was not run: a person changed it.`) : {};
  };

  /** Reports a result, and returns the text that the model reads instead of it. */
  const instead = async (event: Event, result: unknown, failed?: boolean): Promise<string | undefined> => {
    const outcome = running.get(event.tool_use_id);
    running.delete(event.tool_use_id);
    try {
      if (outcome === undefined) throw new BadArguments("its call was not judged");
      const delivery = await outcome.ran(result, failed === undefined ? {} : { failed });
      return delivery.delivered && !delivery.changed ? undefined : delivery.modelText;
    } catch (error) {
      return `[stopgate] The result of \`${event.tool_name}\` is withheld: ${String(error)}`;
    }
  };
  const after: Hook = async (event) => {
    const text = await instead(event, event.tool_response);
    if (text === undefined) return {};
    const output = sameShape(event.tool_name, event.tool_response, text);
    return { decision: "block", reason: text, hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: output, updatedMCPToolOutput: output } };
  };
  // Claude Code cannot withhold the text of a failure, and keeps it: its model is not asked again.
  let stopReason: string | undefined;
  const failed: Hook = async (event) => {
    stopReason = (await instead(event, event.error, true)) ?? stopReason;
    return {};
  };
  const next: Hook = async () => (stopReason === undefined ? {} : { continue: false, stopReason, decision: "block", reason: stopReason });

  const hooks: Record<string, object[]> = { ...(options as { readonly hooks?: Record<string, object[]> }).hooks };
  if (hooks["PreToolUse"]?.length) throw new BadArguments("the options have PreToolUse hooks, which could change a judged call");
  const ours = { PreToolUse: before, PreSkillShellCommand: before, PostToolUse: after, PostToolUseFailure: failed, PostToolBatch: next, UserPromptSubmit: next };
  for (const [name, hook] of Object.entries(ours)) {
    hooks[name] = [...(hooks[name] ?? []), { hooks: [hook], timeout: day, onFailure: "block" }];
  }
  return { ...options, hooks };
}

function decision({ hook_event_name }: Event, permissionDecision: string, permissionDecisionReason: string, updatedInput?: object): object {
  return { hookSpecificOutput: { hookEventName: hook_event_name, permissionDecision, permissionDecisionReason, ...(updatedInput && { updatedInput }) } };
}

/** Returns the name of a tool in rules, and its server. */
function named({ tool_name, mcp_server }: Event, own: readonly string[]): { readonly tool: string; readonly server?: string } {
  const [server, name] = /^mcp__(.+?)__(.+)$/.exec(tool_name)?.slice(1) ?? [];
  if (server === undefined) return { tool: tool_name };
  return mcp_server?.source === "sdk" && own.includes(server) ? { tool: name ?? "" } : { tool: `${server}__${name}`, server };
}
