// The page: one state, which the fields, the slider, examples and links change, and which the
// decision core evaluates.

import * as bytes from './bytes.js';
import { Core, load } from './core.js';
import { alertWith, byId, make } from './dom.js';
import { tooLarge, utf8 } from './limits.js';
import * as policy from './policy.js';
import { decode, encode } from './share.js';
import * as verdict from './verdict.js';

const state = { policy: '', tool: '', args: '', before: '', at: 0, end: false };
let core = null;
let last = null; // the latest reply

/** Replaces the state. */
function setState(next) {
  bytes.stop();
  Object.assign(state, next);
  policy.setText(state.policy);
  for (const name of ['tool', 'args', 'before']) byId(name).value = state[name];
  byId('earlier').open ||= state.before !== '';
  changed();
}

/** Evaluates the state. */
function changed() {
  const args = utf8(state.args);
  state.at = Math.min(state.at, args.length);
  if (state.end) state.at = args.length;
  const why = tooLarge(state);
  alertWith(why);
  draw();
  if (!why) core?.evaluate({ ...state });
}

function draw() {
  const decided = last?.moment?.decided ? last.moment.answer.decided_at : -1;
  bytes.show(utf8(state.args), state.at, state.end, decided);
}

function move(at, end) {
  Object.assign(state, { at, end });
  changed();
}

function reply(r) {
  last = r;
  if (r.report.error !== undefined) return failed(r.report.error);
  policy.show(r.report);
  policy.mark(verdict.decidingLine(r), r.report);
  verdict.show(r, (at, end) => { bytes.stop(); move(at, end); });
  draw();
  bytes.shown();
  const speed = r.traced >= 1 ? `, ${Math.round(r.trace.bytes / r.traced)} bytes in a millisecond, each with its verdict` : '';
  byId('core').textContent = `Decision core: policy compiled in ${r.compiled.toFixed(1)} ms, ${r.trace?.bytes ?? 0} bytes decided in ${(r.traced ?? 0).toFixed(1)} ms${speed}.`;
}

function failed(text) {
  alertWith(text);
}

function wire() {
  policy.init((text) => { state.policy = text; changed(); });
  byId('tool').addEventListener('input', (e) => { bytes.stop(); state.tool = e.target.value; changed(); });
  byId('before').addEventListener('input', (e) => { bytes.stop(); state.before = e.target.value; changed(); });
  byId('args').addEventListener('input', (e) => {
    bytes.stop();
    state.args = e.target.value;
    move(utf8(state.args).length, false); // what is typed has arrived, and more may follow
  });
  bytes.init(move);
  byId('cancel').addEventListener('click', () => core?.cancel());
  byId('append').addEventListener('click', append);
  byId('share').addEventListener('click', share);
  addEventListener('hashchange', open);
}

/** Adds the call to what came before. */
function append() {
  let args;
  try {
    JSON.parse(state.args);
    args = `"args":${state.args.replace(/[\r\n]/g, ' ')}`;
  } catch {
    args = `"raw":${JSON.stringify(state.args)}`;
  }
  const lines = state.before === '' || state.before.endsWith('\n') ? state.before : `${state.before}\n`;
  setState({ before: `${lines}{"tool":${JSON.stringify(state.tool)},${args},"result":{}}\n` });
}

async function share() {
  try {
    const fragment = await encode(state);
    history.replaceState(null, '', fragment);
    byId('link').value = location.href;
    byId('shared').hidden = false;
    byId('link').focus();
    byId('link').select();
  } catch (error) {
    alertWith(error.message);
  }
}

/** Opens the state of the fragment; reports whether there is one. */
async function open() {
  try {
    const shared = await decode(location.hash);
    if (shared) setState(shared);
    return shared !== null;
  } catch (error) {
    setState({ policy: '', tool: '', args: '', before: '', at: 0, end: false });
    alertWith(error.message);
    return true;
  }
}

async function loadExamples() {
  const examples = await (await fetch('examples.json')).json();
  const select = byId('example');
  select.append(...examples.map((e, i) => make('option', { value: String(i) }, e.title)));
  select.disabled = false;
  const pick = ({ policy: text, tool, args, before }) => setState({ policy: text, tool, args, before, at: 0, end: true });
  select.addEventListener('change', () => { if (select.value !== '') pick(examples[Number(select.value)]); });
  return () => {
    select.value = '0';
    pick(examples[0]);
  };
}

async function main() {
  wire();
  try {
    const began = performance.now();
    const first = loadExamples();
    const { module, size } = await load((n) => { byId('core').textContent = `Loading the decision core: ${(n / 1e6).toFixed(1)} MB …`; });
    core = new Core(module, { reply, failed, busy: busy() });
    byId('core').textContent = `Decision core loaded: ${(size / 1e6).toFixed(1)} MB in ${Math.round(performance.now() - began)} ms.`;
    const pickFirst = await first;
    if (!(await open())) pickFirst();
    document.documentElement.dataset.ready = 'true';
  } catch (error) {
    byId('core').textContent = 'The decision core is not loaded.';
    alertWith(error.message);
  }
}

/** Shows the button that stops the core when work lasts. */
function busy() {
  let timer = 0;
  return (is) => {
    clearTimeout(timer);
    byId('cancel').hidden = true;
    if (is) timer = setTimeout(() => { byId('cancel').hidden = false; }, 500);
  };
}

main();
