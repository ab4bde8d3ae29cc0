/** The cases of clients/testdata/adapters.md: the script of each, and the conditions that must hold after it. */
import assert from "node:assert/strict";
import { edit, no, type Question, type Reply, yes } from "@stopgate/client";
import type { Call, Script } from "./script.js";
import type { Tools } from "./tools.js";

/** A scene after its end, for the checks. */
export interface World {
  readonly script: Script;
  readonly tools: Tools;
  readonly questions: Question[];
  /** How many runs there were when each question came. */
  readonly ranBefore: number[];
  error?: unknown;
}

/**
 * One run of the host's agent: turns of the model, the answer of onAsk `delay` ms after the question, the
 * session, and the check. The first of `agents` begins; it can hand over to each of the others. `kills`
 * is the tool whose run ends the gate for good.
 */
export interface Scene {
  readonly turns: readonly (readonly Call[])[];
  readonly check: (world: World) => void;
  readonly answer?: Reply;
  readonly delay?: number;
  readonly data?: Record<string, unknown>;
  readonly user?: string;
  readonly agents?: readonly string[];
  readonly kills?: string;
  /** Another policy than that of all cases: the text of a file. */
  readonly policy?: string;
}

const MAIL = { to: "anna@example.com", body: "hello" };
const DRAFT = { path: "drafts/motd", content: "hi" };
const AGENTS = ["main", "billing", "admins"];

export const call = (id: string, tool: string, args: Record<string, unknown>): Call => ({ id, tool, args });

/** Requires that the model read a refusal of the call, with the reason. */
export function refused(w: World, id: string, tool: string, reason: string): void {
  const text = w.script.textOf(id);
  assert.ok(text.includes(`[stopgate] The tool call \`${tool}\` was not run`) && text.includes(reason), text);
}

export function reads(w: World, id: string, text: string): void {
  assert.ok(w.script.textOf(id).includes(text), w.script.textOf(id));
}

/** Requires that the run did not fail, and that the model was asked until its script was at its end. */
export function ended(w: World): void {
  if (w.error !== undefined) throw w.error;
  assert.equal(w.script.played, w.script.turns.length + 1, "how often the model was asked");
}

export function ran(w: World, ...runs: [string, Record<string, unknown>][]): void {
  assert.deepEqual(w.tools.ran, runs);
}

const asks = (check: (w: World) => void, answer: Reply, delay = 0): Scene[] => [
  {
    turns: [[call("c1", "send_mail", MAIL)]],
    answer,
    delay,
    check: (w) => {
      ended(w);
      assert.equal(w.questions.length, 1);
      const question = w.questions[0]!;
      assert.equal(question.tool, "send_mail");
      assert.deepEqual(JSON.parse(question.argsText), MAIL);
      assert.match(question.public, /A person reads every mail\./);
      assert.deepEqual(w.ranBefore, [0]);
      check(w);
    },
  },
];

/** The scenes of each case. */
export const CASES: Readonly<Record<string, readonly Scene[]>> = {
  allow: [
    {
      turns: [[call("c1", "lookup", { city: "Zürich", days: 2 })]],
      check: (w) => {
        ended(w);
        ran(w, ["lookup", { city: "Zürich", days: 2 }]);
        reads(w, "c1", "sunny in Zürich for 2 days");
        assert.notEqual(w.script.readings.get("c1")?.failed, true);
      },
    },
  ],
  deny: [
    {
      turns: [[call("c1", "delete_file", { path: "notes.txt" })], [call("c2", "lookup", { city: "Rome" })]],
      check: (w) => {
        ended(w);
        ran(w, ["lookup", { city: "Rome" }]);
        refused(w, "c1", "delete_file", "No file is deleted here");
        reads(w, "c2", "sunny in Rome");
      },
    },
  ],
  ask_yes: asks((w) => {
    ran(w, ["send_mail", MAIL]);
    reads(w, "c1", "sent to anna@example.com");
  }, yes()),
  ask_no: asks((w) => {
    ran(w);
    refused(w, "c1", "send_mail", "not today");
  }, no("not today")),
  ask_late: asks(
    (w) => {
      ran(w);
      refused(w, "c1", "send_mail", "");
    },
    yes(),
    3500,
  ),
  edit: [
    {
      turns: [[call("c1", "write_file", { path: "/etc/motd", content: "hi" })]],
      answer: edit(DRAFT),
      check: (w) => {
        ended(w);
        ran(w, ["write_file", DRAFT]);
        reads(w, "c1", "wrote drafts/motd");
      },
    },
  ],
  skip: [
    {
      turns: [[call("c1", "notify", { text: "hello" })]],
      check: (w) => {
        ended(w);
        ran(w);
        refused(w, "c1", "notify", "Notifications are off");
        assert.notEqual(w.script.readings.get("c1")?.failed, true, "the host counts a skipped call as an error");
      },
    },
  ],
  withheld: [
    {
      turns: [[call("c1", "fetch", { page: "public" })], [call("c2", "fetch", { page: "private" })]],
      check: (w) => {
        ended(w);
        ran(w, ["fetch", { page: "public" }], ["fetch", { page: "private" }]);
        reads(w, "c1", "content of public");
        reads(w, "c2", "withheld");
        for (const request of w.script.requests) assert.ok(!request.includes("content of private"), request);
      },
    },
  ],
  parallel: [
    {
      turns: [
        [call("p1", "lookup", { city: "Rome" }), call("p2", "delete_file", { path: "notes.txt" }), call("p3", "lookup", { city: "Oslo" })],
      ],
      check: (w) => {
        ended(w);
        assert.deepEqual(w.tools.ran.map(([tool, args]) => [tool, args["city"]]).sort(), [["lookup", "Oslo"], ["lookup", "Rome"]]);
        reads(w, "p1", "sunny in Rome");
        refused(w, "p2", "delete_file", "No file is deleted here");
        reads(w, "p3", "sunny in Oslo");
      },
    },
  ],
  handoff: [
    {
      turns: [[call("h1", "transfer_to_admins", {})], [call("h2", "refund", { order: "7" })]],
      agents: AGENTS,
      check: (w) => {
        ended(w);
        ran(w);
        refused(w, "h1", "transfer_to_admins", "");
        refused(w, "h2", "refund", "Only billing refunds");
      },
    },
    {
      turns: [[call("h1", "transfer_to_billing", {})], [call("h2", "refund", { order: "7" })]],
      agents: AGENTS,
      check: (w) => {
        ended(w);
        ran(w, ["refund", { order: "7" }]);
        assert.ok(!w.script.textOf("h1").includes("not run"), w.script.textOf("h1"));
        reads(w, "h2", "refunded 7");
      },
    },
  ],
  session: [
    {
      turns: [
        [call("c1", "deploy", { to: "prod" })],
        [call("c2", "pay", { to: "anna@example.com" })],
        [call("c3", "pay", { to: "mallory@example.com" })],
      ],
      data: { mode: "release" },
      user: "Pay anna@example.com please",
      check: (w) => {
        ended(w);
        ran(w, ["deploy", { to: "prod" }], ["pay", { to: "anna@example.com" }]);
        refused(w, "c3", "pay", "The person named no such payee");
      },
    },
    {
      turns: [[call("c1", "deploy", { to: "prod" })]],
      check: (w) => {
        ended(w);
        ran(w);
        refused(w, "c1", "deploy", "Nothing is deployed outside of a release");
      },
    },
  ],
  killed: [
    {
      turns: [
        [call("k1", "lookup", { city: "Rome" })],
        [call("k2", "lookup", { city: "Oslo" }), call("k3", "lookup", { city: "Bern" })],
      ],
      kills: "lookup",
      check: (w) => {
        ran(w, ["lookup", { city: "Rome" }]);
        for (const request of w.script.requests) assert.ok(!request.includes("sunny in"), request);
        for (const reading of w.script.readings.values()) assert.ok(!reading.text.includes("sunny in"), reading.text);
      },
    },
  ],
};
