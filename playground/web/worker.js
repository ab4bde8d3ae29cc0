'use strict';
// Runs the decision core, so that typing never waits for it. The page sends the compiled module
// first, then one state after another; each has one reply.
importScripts('wasm_exec.js');

const encoder = new TextEncoder();
let core; // resolves when the core runs
let compiled; // the text of the policy that the core has
let report; // its report
let traced = {}; // the call of the latest trace

self.onmessage = ({ data }) => {
  if (data.module) {
    core = start(data.module);
    core.then(() => self.postMessage({ ready: true }), (error) => self.postMessage({ failed: String(error) }));
    return;
  }
  core.then(() => self.postMessage(evaluate(data)), () => {});
};

async function start(module) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() => self.postMessage({ failed: 'the decision core ended' }));
}

/** Asks the core. Its answers are JSON. */
function ask(name, ...parameters) {
  return JSON.parse(self.stopgatePlayground[name](...parameters));
}

function evaluate({ id, state }) {
  const began = performance.now();
  const reply = { id };
  if (state.policy !== compiled) {
    report = ask('compile', encoder.encode(state.policy));
    compiled = state.policy;
    traced = {};
  }
  reply.report = report;
  reply.compiled = performance.now() - began;
  if (report.valid) {
    const args = encoder.encode(state.args);
    const call = [encoder.encode(state.tool), args, encoder.encode(state.before)];
    if (traced.tool !== state.tool || traced.args !== state.args || traced.before !== state.before) {
      const from = performance.now();
      traced = { tool: state.tool, args: state.args, before: state.before, trace: ask('trace', ...call), took: 0 };
      traced.took = performance.now() - from;
    }
    reply.trace = traced.trace;
    reply.traced = traced.took;
    if (!traced.trace.error) {
      reply.moment = ask('at', ...call, Math.min(state.at, args.length), state.end);
      if (reply.moment.end || reply.moment.terminal) reply.sent = ask('send', ...call);
    }
  }
  return reply;
}
