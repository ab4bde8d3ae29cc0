/**
 * OpenAI Agents SDK (`@openai/agents`). The gate is put between an agent and its tools and handoffs:
 *
 *	const agent = guard(gate, new Agent({ name: "main", tools, handoffs }));
 */
import type { Gate } from "../index.js";
import { declared, judged, Refusal, type Settings, textOf } from "./judged.js";

interface Details {
  readonly toolCall?: { readonly callId: string };
  readonly signal?: AbortSignal;
}
interface ToolLike {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly parameters?: object;
  invoke?(context: unknown, input: string, details?: Details): Promise<unknown>;
}
type Filter = (data: never) => unknown;
interface HandoffLike {
  readonly toolName: string;
  readonly inputFilter?: Filter;
  onInvokeHandoff(context: unknown, args: string): unknown;
  clone(changes: object): HandoffLike;
}
/** The parts of an Agent that the adapter uses. */
export interface AgentLike {
  readonly name: string;
  getAllTools(...args: never[]): Promise<unknown[]>;
  getEnabledHandoffs(...args: never[]): Promise<unknown[]>;
}
interface Transfer {
  readonly runContext?: object;
  readonly newItems: readonly { readonly type: string; readonly rawItem?: { output?: unknown } }[];
}

/** Settings of [guard]. */
export interface AgentSettings extends Pick<Settings, "session"> {
  /** Names of tools that are no functions of this program and run without a decision of the gate; any other one is an error. */
  readonly unjudged?: readonly string[];
  /** The handoffInputFilter of the run's configuration: handoffs of a guarded agent have filters of their own. */
  readonly handoffInputFilter?: Filter;
}

const guarded = new WeakSet<object>();

/**
 * Lets the gate decide the function tools, the tools of MCP servers and the handoffs of the agent, and of the agents that it
 * hands over to. It changes the agent, and returns it. Calls have its name as their agent.
 */
export function guard<A extends AgentLike>(gate: Gate, agent: A, settings: AgentSettings = {}): A {
  if (guarded.has(agent)) return agent;
  guarded.add(agent);
  const tools = agent.getAllTools.bind(agent) as (...args: unknown[]) => Promise<ToolLike[]>;
  const handoffs = agent.getEnabledHandoffs.bind(agent) as (...args: unknown[]) => Promise<HandoffLike[]>;
  return Object.assign(agent, {
    getAllTools: async (...args: unknown[]) => (await tools(...args)).map((tool) => guardTool(gate, tool, agent.name, settings)),
    getEnabledHandoffs: async (...args: unknown[]) => (await handoffs(...args)).map((handoff) => guardHandoff(gate, handoff, agent, settings)),
  });
}

function guardTool(gate: Gate, tool: ToolLike, agent: string, { unjudged, session }: AgentSettings): ToolLike {
  const { name, description, parameters, invoke } = tool;
  if (invoke === undefined && unjudged?.includes(name)) return tool;
  if (invoke === undefined) throw new TypeError(`stopgate cannot decide calls of the ${tool.type} tool ${name}: remove it, or name it in unjudged`);
  const definition = declared(description, parameters);
  return {
    ...tool,
    async invoke(context, input, details) {
      const call = { tool: name, args: input || "{}", agent, session, definition, callId: details?.toolCall?.callId, signal: details?.signal };
      const result = await judged(gate, call, ({ argsText }) => invoke.call(tool, context, argsText, details), textOf);
      return result instanceof Refusal ? result.text : result;
    },
  };
}

/** A refused handoff leads back to its agent, and a filter puts the reason into the answer to the model. */
function guardHandoff(gate: Gate, handoff: HandoffLike, from: AgentLike, settings: AgentSettings): HandoffLike {
  const refusals = new WeakMap<object, string>();
  const filter = handoff.inputFilter ?? settings.handoffInputFilter;
  return handoff.clone({
    async onInvokeHandoff(context: object, args: string) {
      const call = { tool: handoff.toolName, args: args || "{}", agent: from.name, session: settings.session };
      const to = await judged(gate, call, ({ argsText }) => handoff.onInvokeHandoff(context, args && argsText) as AgentLike, () => "");
      if (!(to instanceof Refusal)) return guard(gate, to, settings);
      refusals.set(context, to.text);
      return from;
    },
    inputFilter(data: Transfer) {
      const text = refusals.get(data.runContext ?? data);
      if (text === undefined) return filter ? filter(data as never) : data;
      const item = data.newItems.findLast(({ type }) => type === "handoff_output_item");
      if (item?.rawItem) item.rawItem.output = { type: "text", text };
      return data;
    },
  });
}
