// A double of `stopgate connect`: it answers by the name of the tool, and fails in the ways that FAKE names.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface Frame {
  id: number;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  open?: boolean;
  end?: boolean;
  cancel?: boolean;
}

const mode = process.env["FAKE"] ?? "";
const write = (frame: object): boolean => process.stdout.write(`${JSON.stringify(frame)}\n`);
const json = { "content-type": "application/json" };

if (mode === "silent") setInterval(() => {}, 1000);
else if (mode === "error") {
  write({ error: { code: "gate_untrusted", detail: "another program has the socket" } });
  process.exitCode = 1;
} else if (mode === "protocol") write({ hello: { protocol: 2 } });
else if (mode === "chatter") process.stdout.write("hello\n");
else if (mode === "exit") {
  process.stderr.write("no policy file\n");
  process.exitCode = 1;
} else {
  if (mode === "stubborn") {
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
  }
  if (mode === "heir") spawn("sleep", ["5"], { stdio: "inherit", detached: true }).unref();
  write({ hello: { protocol: 1, version: "test", gate: { programs: mode !== "no-programs" } } });
  createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => handle(JSON.parse(line) as Frame));
}

interface Known {
  tool: string;
  session: string;
  raw: string;
  reply?: { answer: string; reason?: string; args?: unknown };
  waiting: (() => void)[];
}

const calls = new Map<string, Known>();
const streams = new Map<number, { first: string; text: string }>();
const bodies = new Map<number, { frame: Frame; body: string }>();
let next = 1;

function handle(frame: Frame): void {
  if (frame.cancel === true) return void bodies.delete(frame.id);
  if (frame.method !== undefined) {
    if (frame.path === "/v1/calls/stream") return begin(frame);
    if (frame.open !== true) return request(frame, frame.body ?? "");
    bodies.set(frame.id, { frame, body: frame.body ?? "" });
    return;
  }
  const stream = streams.get(frame.id);
  if (stream !== undefined) return part(frame, stream);
  const open = bodies.get(frame.id);
  if (open === undefined) return;
  open.body += frame.body ?? "";
  if (frame.end === true) request(open.frame, open.body);
}

function request({ id, method, path = "", headers = {} }: Frame, body: string): void {
  const answer = (status: number, value: object): boolean => write({ id, status, headers: json, body: JSON.stringify(value) });
  if (path === "/v1/sessions") {
    const { session = `session-${next++}` } = JSON.parse(body || "{}") as { session?: string };
    return void answer(201, { session, key: `key of ${session}` });
  }
  if (path.startsWith("/v1/sessions/")) return void answer(200, { read: true });
  if (path === "/v1/calls") return propose(id, JSON.parse(body) as never, headers);
  const [, , what = "", name = "", sub] = path.split("/");
  const call = calls.get(name);
  if (call === undefined) return void write({ id, status: 404, headers: { "content-type": "application/problem+json" }, body: '{"title":"","status":404,"code":"not_found","detail":"no call"}' });
  if (what === "approvals") {
    call.reply = JSON.parse(body) as NonNullable<Known["reply"]>;
    answer(200, { approval: { id: name, key: headers["stopgate-session-key"] } });
    for (const wake of call.waiting.splice(0)) wake();
    return;
  }
  if (sub === "result") {
    const { data } = JSON.parse(body) as { data: string };
    const withheld = data.includes("secret");
    const text = withheld ? "withheld" : data.replace("change", "changed");
    return void answer(200, { mode: withheld ? "deny" : "unattended", delivered: !withheld, data: text, ...(withheld ? { code: "result_withheld" } : {}), envelope: { status: withheld ? "denied" : "ok", code: null, publicReason: null, data: text } });
  }
  if (method === "GET") {
    const look = (): boolean => answer(200, decided(name, call));
    if (call.tool === "swapped") answer(200, { ...facts("another", call), status: "allowed", args_text: call.raw });
    else if (call.reply !== undefined) look();
    else {
      const wait = Number(/wait=([0-9]+)/.exec(headers["prefer"] ?? "")?.[1] ?? 0);
      const timer = setTimeout(() => {
        call.waiting = call.waiting.filter((waiting) => waiting !== wake);
        answer(202, { ...facts(name, call), status: "pending", approval: question(name, call, true) });
      }, wait * 1000);
      const wake = (): void => {
        clearTimeout(timer);
        look();
      };
      call.waiting.push(wake);
    }
  }
}

const facts = (id: string, { tool, session, raw }: Known): object => ({ id, tool, session, mode: "unattended", decided_at: 1, bytes: Buffer.byteLength(raw), enforced: true });

function question(id: string, { tool, session, raw }: Known, complete: boolean): object {
  return { id, proposal: id, tool, session, mode: "ask", code: "rule_matched", public: "A person reads it.", complete, received: raw.length, seen: `${raw.length}`, args: raw, asked: "", expires: "", state: "waiting" };
}

function decided(id: string, call: Known): object {
  const { answer = "deny", reason = "declined", args } = call.reply ?? {};
  if (answer === "deny") return { ...facts(id, call), mode: "deny", status: "denied", code: "approval_declined", public: reason, envelope: {} };
  return { ...facts(id, call), status: "allowed", args_text: answer === "edit" ? JSON.stringify(args) : call.raw, envelope: {}, approval: { id, by: "local", edited: answer === "edit" } };
}

/** The answer about a call whose arguments are complete. */
function outcome(id: string, call: Known): object {
  const { tool, raw } = call;
  const base = facts(id, call);
  if (tool.startsWith("deny")) return { ...base, mode: "deny", status: "denied", code: "rule_matched", public: "Not here." };
  if (tool.startsWith("skip")) return { ...base, mode: "skip", status: "skipped", code: "rule_skipped", public: "Off." };
  const allowed = { ...base, status: "allowed", args_text: raw };
  switch (tool) {
    case "other-tool":
      return { ...allowed, tool: "read" };
    case "other-session":
      return { ...allowed, session: "x" };
    case "no-args":
      return { ...base, status: "allowed", args: JSON.parse(raw) as object };
    case "odd-status":
      return { ...allowed, status: "ok" };
    case "short":
      return { ...allowed, bytes: 1 };
    case "odd-mode":
      return { ...allowed, mode: "deny" };
    case "as-text":
      return { ...allowed, args_text: (JSON.parse(raw) as { text: string }).text };
    default:
      return allowed;
  }
}

function propose(id: number, body: { tool: string; session: string; raw: string }, headers: Record<string, string>): void {
  const { tool } = body;
  const name = `c${next++}`;
  const call: Known = { ...body, waiting: [] };
  calls.set(name, call);
  switch (tool) {
    case "hang":
      return;
    case "die":
      process.exit(3);
    // falls through: exit does not return
    case "garbage":
      return void process.stdout.write("{nonsense\n");
    case "lost":
      return void write({ id, error: { code: "gate_lost", detail: "the gate ended" } });
    case "not-json":
      return void write({ id, status: 200, headers: json, body: "<html>" });
    case "html":
      return void write({ id, status: 200, headers: { "content-type": "text/html" }, body: "{}" });
    case "twice":
      return void write({ id, status: 200, headers: json, body: JSON.stringify({ ...outcome(name, call), status: "denied" }).replace("}", ',"status":"allowed"}') });
    case "swapped":
      return void write({ id, status: 202, headers: json, body: JSON.stringify({ ...facts(name, call), mode: "ask", status: "pending" }) });
    case "problem":
      return void write({ id, status: 503, headers: { "content-type": "application/problem+json" }, body: '{"title":"x","status":503,"code":"unavailable","detail":"the store"}' });
    case "redirect":
      return void write({ id, status: 307, headers: { location: "/v1/calls" }, body: "" });
    case "headers":
      return void write({ id, status: 200, headers: json, body: JSON.stringify({ ...outcome(name, call), args_text: JSON.stringify({ headers, body }) }) });
    case "ask":
      return void write({ id, status: 202, headers: json, body: JSON.stringify({ ...facts(name, call), mode: "ask", status: "pending", approval: headers["stopgate-approver"] === "program" ? question(name, call, true) : { id: name } }) });
    default:
      return void write({ id, status: 200, headers: json, body: JSON.stringify(outcome(name, call)) });
  }
}

function begin(frame: Frame): void {
  const [first = "", text = ""] = (frame.body ?? "").split("\n");
  streams.set(frame.id, { first, text });
  const { tool } = JSON.parse(first) as { tool: string };
  if (tool === "problem") return void write({ id: frame.id, status: 400, headers: { "content-type": "application/problem+json" }, body: '{"title":"x","status":400,"code":"bad","detail":"no"}' });
  write({ id: frame.id, status: 200, headers: { "content-type": "application/x-ndjson" }, open: true });
}

/** A part of streamed arguments. A text with "bad" is refused, one with "ask" is asked. */
function part(frame: Frame, stream: { first: string; text: string }): void {
  const { id, body = "", end } = frame;
  stream.text += body;
  const { tool, session } = JSON.parse(stream.first) as { tool: string; session: string };
  const call: Known = { tool, session, raw: stream.text, waiting: [] };
  const line = (value: object): boolean => write({ id, body: `${JSON.stringify(value)}\n` });
  const finish = (value: object): void => {
    streams.delete(id);
    line({ call: value });
    write({ id, end: true });
  };
  if (tool === "break") return void write({ id, end: true });
  if (tool === "hang") return;
  if (tool === "early-yes") return finish(outcome(`c${next++}`, call));
  if (stream.text.includes("bad")) return finish({ ...facts(`c${next++}`, call), mode: "deny", status: "denied", code: "rule_matched", public: "Bad." });
  line({ verdict: { mode: "unattended", decided_at: 1 }, received: stream.text.length });
  const name = `s${id}`;
  if (tool === "ask" && !calls.has(name)) {
    calls.set(name, call);
    line({ verdict: { mode: "ask", decided_at: 1 }, approval: question(name, call, false) });
    call.waiting.push(() => (call.reply?.answer === "deny" ? finish(decided(name, call)) : undefined));
  }
  if (end !== true) return;
  if (tool === "ask") {
    const known = calls.get(name) ?? call;
    known.raw = stream.text;
    return finish({ ...facts(name, known), mode: "ask", status: "pending", approval: question(name, known, true) });
  }
  finish(outcome(`c${next++}`, call));
}
