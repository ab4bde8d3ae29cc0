// The verdict, why it is that, and what leaves the gate.

import { byId, count, make } from './dom.js';
import { lineButton } from './policy.js';

const own = 'stopgate.toml'; // the name of the file in verdicts

/** Shows the state of the call. */
export function show({ trace, moment, sent }, jump) {
  const failure = trace?.error ?? moment?.error;
  if (failure !== undefined || !moment) {
    for (const id of ['details', 'steps', 'sent']) byId(id).replaceChildren();
    byId('verdict').replaceChildren(failure ?? 'No verdict: correct the policy first.');
    return;
  }
  byId('verdict').replaceChildren(...headline(moment, trace.bytes));
  byId('details').replaceChildren(...reasons(moment));
  byId('steps').replaceChildren(...trace.steps.map((s) => step(s, jump)));
  byId('sent').replaceChildren(...(sent ? leaving(sent) : [make('p', { class: 'help' }, 'The gateway holds the whole call until its verdict is final.')]));
}

/** The line of the rule that decided, 0 for none of this file. */
export function decidingLine({ moment }) {
  const rule = moment?.answer?.rule;
  return moment?.decided && rule?.file === own ? rule.line : 0;
}

function headline(m, total) {
  const a = m.answer;
  if (!m.decided) return [make('strong', { class: 'undecided' }, 'undecided'), ` after ${m.bytes} of ${count(total, 'byte')}`];
  const parts = [make('strong', { class: a.mode }, a.mode), ` since byte ${a.decided_at} of ${total}`];
  if (a.rule) parts.push(` by ${a.layer === 'guard' ? 'guard' : 'rule'} ${a.rule.index + 1}, ${a.rule.file === own ? '' : `${a.rule.file} `}line ${a.rule.line}`);
  else if (a.layer) parts.push(` by ${a.layer}`);
  parts.push(` (${a.code})`, make('br'), a.public);
  if (m.terminal) parts.push(make('br'), 'Final: no later byte changes it.');
  else if (!m.end) parts.push(make('br'), 'Provisional: later bytes can only make it stricter.');
  return parts;
}

function reasons(m) {
  const a = m.answer;
  const list = [];
  const add = (...parts) => list.push(make('li', {}, ...parts));
  if (m.decided && a.pointer) add('argument ', make('code', {}, a.pointer));
  if (m.decided && a.cause) add(`cause: ${a.cause}`);
  if (a.segment) add('command ', make('code', {}, a.segment.text), ` (${a.segment.index + 1} of ${a.segment.of})`);
  if (a.reading) add('read as ', make('code', {}, a.reading));
  for (const f of a.floors ?? []) add(`at least ${f.mode} since byte ${f.at}: ${f.code}`, f.pointer ? ` at ${f.pointer}` : '');
  for (const o of m.objections ?? []) add(`session policy ${o.policy} objects: ${o.code}`);
  if (a.judge) add('a judge reviews this call too; it is not asked here');
  for (const name of a.external ?? []) add(`the external policy ${name} decides too; it is not asked here`);
  if (m.recognised) add(`known as ${m.recognised}`);
  if (m.not_known) add(m.not_known);
  const waiting = m.lists.flatMap((l) => l.rules).filter((r) => r.status === 'waiting').length;
  if (waiting && !m.terminal) add(`still open: ${count(waiting, 'rule')}`);
  const blocks = list.length ? [make('ul', {}, ...list)] : [];
  for (const l of m.lists) {
    // Guards that no value has met say nothing about this call.
    if (l.layer === 'guard' && l.rules.every((r) => r.status === 'eliminated')) continue;
    blocks.push(ruleList(l));
  }
  return blocks;
}

function ruleList(l) {
  const title = l.table ? `Rules of ${l.table}` : `A ${l.layer}`;
  const state = l.decided ? `decided: ${l.mode}${l.lowered ? ' (the file is not trusted)' : ''}` : 'not decided';
  return make('details', { open: l.named || l.rules.length < 8 },
    make('summary', {}, `${title}, ${l.file}: ${state}`),
    make('ol', { class: 'rules' }, ...l.rules.map((r) => rule(r))));
}

function rule(r) {
  const where = r.rule.file === own ? lineButton(r.rule.line) : `${r.rule.file} line ${r.rule.line}`;
  const at = r.at > 0 ? ` at byte ${r.at}` : '';
  const conditions = (r.conditions ?? []).map((c) => {
    const target = c.arg || `any ${c.on}`;
    const result = c.status === 'waiting' ? 'waiting' : `${c.status}${c.at ? ` at byte ${c.at}` : ''}`;
    return make('li', {}, make('code', {}, `${target} ${c.matcher} ${c.literal}`), `: ${result}`, c.uncertain ? `; uncertain: ${c.uncertain}` : '');
  });
  return make('li', { class: r.named ? 'rule named' : 'rule', value: r.rule.index + 1 },
    where, ' ', make('span', { class: r.mode }, r.mode), `: ${r.skipped || r.status}${at}`, conditions.length ? make('ul', {}, ...conditions) : '');
}

function step(s, jump) {
  const at = s.end ? 'end' : `byte ${s.at}`;
  const state = s.decided ? s.mode : 'undecided';
  const why = s.decided ? ` by ${s.rule ? `${s.layer === 'guard' ? 'guard' : 'rule'} ${s.rule.index + 1}, ${s.rule.file === own ? '' : `${s.rule.file} `}line ${s.rule.line}` : s.layer} (${s.code})` : '';
  const floors = s.floors?.length ? `, ${count(s.floors.length, 'floor')}` : '';
  return make('li', {}, make('button', { type: 'button', onclick: () => jump(s.at, s.end === true) }, at), ' ',
    make('span', { class: state }, state), `${why}${floors}${s.terminal ? ', final' : ''}`);
}

function leaving(s) {
  if (s.error !== undefined) return [make('h3', {}, 'What leaves the gate'), make('p', {}, s.error)];
  const blocks = [make('h3', {}, s.asks ? 'What leaves the gate after a yes' : 'What leaves the gate')];
  if (s.args) blocks.push(make('p', {}, 'Arguments that run, byte for byte:'), make('pre', { class: 'sent' }, s.args));
  else blocks.push(make('p', {}, 'The result for the model:'), make('pre', { class: 'sent' }, JSON.stringify(s.envelope)));
  blocks.push(make('details', {},
    make('summary', {}, `The stream of the gateway in Anthropic Messages: ${count(s.held, 'byte')} of the model's stream were held`),
    make('pre', { class: 'sent' }, s.stream)));
  return blocks;
}
