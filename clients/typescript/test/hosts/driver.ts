/** Runs the cases through one host, and writes its row of the table. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { local, type Gate, type Session } from "@stopgate/client";
import { CASES, type Scene, type World } from "./cases.js";
import { CLIENTS, Machine, POLICY, ROWS } from "./machine.js";
import { Script } from "./script.js";
import { Tools, type Declared } from "./tools.js";

/** A run of the host's agent, for a driver. */
export interface Run {
  readonly gate: Gate;
  readonly session: Session;
  readonly script: Script;
  readonly tools: readonly Declared[];
  readonly agents: readonly string[];
  readonly prompt: string;
}

/** One host. `unable` has the cases that the host cannot do, with the reason in at most six words. */
export interface Driver {
  readonly host: string;
  readonly title: string;
  readonly package: string;
  readonly unable: Readonly<Record<string, string>>;
  /** Builds the host's agent with a model that plays run.script, and runs it to its end. Errors of the run pass through. */
  run(run: Run): Promise<void>;
}

/** Declares the tests of a driver's cases. The row is written when every case has passed. */
export function testCases(driver: Driver): void {
  const cases: Record<string, string> = { ...driver.unable };
  for (const [name, scenes] of Object.entries(CASES)) {
    if (name in cases) continue;
    test(`${driver.host}: ${name}`, async () => {
      for (const scene of scenes) await play(driver, scene);
      cases[name] = "yes";
    });
  }
  after(() => {
    const names = Object.keys(CASES);
    if (names.every((name) => name in cases)) write(driver, Object.fromEntries(names.map((name) => [name, cases[name]])));
  });
}

function write(driver: Driver, cases: Record<string, unknown>): void {
  const manifest = join(CLIENTS, "typescript", "test", "hosts", "node_modules", driver.package, "package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const row = { language: "typescript", host: driver.host, title: driver.title, package: driver.package, version, cases };
  mkdirSync(ROWS, { recursive: true });
  writeFileSync(join(ROWS, `ts-${driver.host}.json`), `${JSON.stringify(row, null, 1)}\n`);
}

/** Runs a scene through a host, with a gate of its own, and checks it. */
export async function play(driver: Pick<Driver, "run">, scene: Scene): Promise<void> {
  const machine = new Machine();
  Object.assign(process.env, machine.environment());
  try {
    const tools = new Tools((tool) => {
      if (tool === scene.kills) machine.kill();
    });
    const world: World = { script: new Script(scene.turns), tools, questions: [], ranBefore: [] };
    await run(driver, scene, machine, world).catch((error: unknown) => {
      world.error = error;
    });
    scene.check(world);
  } finally {
    machine.remove();
  }
}

async function run(driver: Pick<Driver, "run">, scene: Scene, machine: Machine, world: World): Promise<void> {
  const { answer, delay = 0 } = scene;
  const own = join(machine.home, "policy.toml");
  if (scene.policy !== undefined) writeFileSync(own, scene.policy);
  await using gate = await local({
    policy: scene.policy === undefined ? POLICY : own,
    project: machine.project,
    binary: machine.binary,
    ...(answer && {
      onAsk: async (question) => {
        world.questions.push(question);
        world.ranBefore.push(world.tools.ran.length);
        await sleep(delay);
        return answer;
      },
    }),
  });
  const session = await gate.session({ ...(scene.data && { data: scene.data }), ...(scene.user && { userText: scene.user }) });
  const prompt = scene.user ?? "Do what the script does.";
  await driver.run({ gate, session, script: world.script, tools: world.tools.declared(), agents: scene.agents ?? ["main"], prompt });
  if (delay > 0) await sleep(delay); // the late answer has come
}
