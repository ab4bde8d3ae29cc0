// Prints the time of a decision through the client, and that of the gate itself: node build/test/latency.js
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { local } from "../src/index.js";
import { binary, killGates, policyFile, state } from "./real.js";

const policy = policyFile('version = 1\n[tools.read.parameters]\npath = { type = "path", required = true }\n[tools.read.policy]\nrun = [{ arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "deny" }]\n');
const count = Number(process.argv[2] ?? 3000);
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
const p99 = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

/** Milliseconds of one POST after the other on a kept connection to a socket: what the gate needs, and HTTP. */
async function direct(socket: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      const out = request({ socketPath: socket, path: "/v1/calls", method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => response.resume().on("end", resolve));
      out.on("error", reject).end(JSON.stringify({ tool: "read", session: "direct", raw: `{"path":"src/${i}"}` }));
    });
    times.push(performance.now() - began);
  }
  agent.destroy();
  return times;
}

/** Milliseconds that the gate itself reports for its decisions. */
function reported(socket: string): { times: number[]; stop(): void } {
  const times: number[] = [];
  const out = request({ socketPath: socket, path: "/v1/events?type=decision" }, (response) => {
    response.on("error", () => {}); // stopped
    createInterface({ input: response }).on("error", () => {}).on("line", (line) => {
      if (line.startsWith("data:")) times.push((JSON.parse(line.slice(5)) as { took: number }).took * 1000);
    });
  });
  out.on("error", () => {}).end();
  return { times, stop: () => out.destroy() };
}

const gate = await local({ binary, policy });
await gate.decide("read", { path: "src/a" });
const socket = `${state}/stopgate/gates/${readdirSync(`${state}/stopgate/gates`).find((name) => name.endsWith(".sock"))}`;
const report = (name: string, times: number[]): void => console.log(`${name.padEnd(36)} p50 ${median(times).toFixed(3)} ms   p99 ${p99(times).toFixed(3)} ms`);
/** Milliseconds of one decision after the other. */
async function decide(): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await gate.decide("read", { path: `src/${i}` });
    times.push(performance.now() - began);
  }
  return times;
}

for (let round = 0; round < 3; round++) {
  const through = await decide();
  const events = reported(socket); // in a second run: to follow the events costs time
  await decide();
  await new Promise((resolve) => setTimeout(resolve, 200));
  events.stop();
  report("decide through the client", through);
  report("the gate itself, as its events report", events.times);
  console.log(`beyond the gate                      p50 ${(median(through) - median(events.times)).toFixed(3)} ms`);
  report("a plain POST to the socket from Node", await direct(socket));
}
await gate.close();
killGates();
process.exit(0);
