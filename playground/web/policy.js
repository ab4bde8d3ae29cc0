// The policy: an editor with line numbers and marked lines, and the findings below it.

import { byId, count, make } from './dom.js';

const field = byId('policy');
const numbers = byId('numbers');
const marks = byId('marks');

/** Calls changed(text) when the text changes. */
export function init(changed) {
  field.addEventListener('input', () => {
    number();
    changed(field.value);
  });
  field.addEventListener('scroll', scroll);
}

/** Replaces the text. */
export function setText(text) {
  field.value = text;
  field.scrollTop = 0;
  number();
  scroll();
}

/** Shows the findings of a report. */
export function show(report) {
  const errors = report.findings.filter((f) => f.severity === 'error').length;
  const others = report.findings.length - errors;
  byId('policy-state').textContent = report.valid
    ? `The policy is valid: ${count(report.rules, 'rule')}${others ? `, ${count(others, 'remark')}` : ''}.`
    : `The policy has ${count(errors, 'mistake')}: calls cannot be decided.`;
  byId('findings').replaceChildren(...report.findings.map(finding));
  byId('tools').replaceChildren(...report.tools.map((name) => make('option', { value: name })));
}

function finding(f) {
  const parts = [make('strong', {}, `${f.severity} ${f.code}`), ': ', f.message];
  if (f.hint) parts.push(make('br'), `Remedy: ${f.hint}`);
  if (f.line > 0) parts.unshift(lineButton(f.line, f.column), ' ');
  return make('li', { class: f.severity }, ...parts);
}

/** A button that selects a line of the policy. */
export function lineButton(line, column = 1) {
  const label = column > 1 ? `line ${line}, column ${column}` : `line ${line}`;
  return make('button', { type: 'button', onclick: () => select(line) }, label);
}

function select(line) {
  const lines = field.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  field.scrollTop = Math.max(0, (line - 4) * rowHeight());
}

/** Marks the line of the deciding rule, 0 for none, and those of findings. */
export function mark(line, report) {
  const list = report.findings.filter((f) => f.line > 0 && f.severity !== 'note').map((f) => [f.line, f.severity]);
  if (line > 0) list.unshift([line, 'rule']);
  marks.replaceChildren(...list.map(([at, kind]) => {
    const m = make('div', { class: `mark ${kind}` });
    m.style.top = `calc(var(--row) * ${at - 1})`;
    return m;
  }));
}

function number() {
  const n = field.value.split('\n').length;
  if (numbers.dataset.lines === String(n)) return;
  numbers.dataset.lines = n;
  numbers.textContent = Array.from({ length: n }, (_, i) => i + 1).join('\n');
}

function scroll() {
  for (const layer of [numbers, marks]) layer.style.transform = `translateY(${-field.scrollTop}px)`;
}

const rowHeight = () => parseFloat(getComputedStyle(field).lineHeight);
