// The position in the arguments: a slider, steps, and players that let the bytes arrive in pieces.

import { byId, count, make } from './dom.js';

const slider = byId('position');
const pace = 150; // milliseconds for which the verdict on a piece is shown
let total = 0; // bytes of the arguments
let timer = 0; // of the player
let advance = null; // lets the next piece arrive, null without a player

/** Calls moved(at, end) when the position changes by hand or by a player. */
export function init(moved) {
  // The last position of the slider is the end of the arguments.
  const go = (n) => {
    const value = Math.max(0, Math.min(n, total + 1));
    slider.value = value;
    moved(Math.min(value, total), value > total);
  };
  const by = (n) => () => { stop(); go(Number(slider.value) + n); };
  slider.addEventListener('input', () => { stop(); go(Number(slider.value)); });
  byId('back').addEventListener('click', by(-1));
  byId('forth').addEventListener('click', by(1));
  for (const size of [4, 20]) {
    byId(`play${size}`).addEventListener('click', () => {
      stop();
      advance = () => {
        const value = Number(slider.value);
        if (value >= total) advance = null;
        go(value < total ? Math.min(value + size, total) : total + 1);
      };
      go(0);
    });
  }
}

/** Ends a player. */
export function stop() {
  clearTimeout(timer);
  advance = null;
}

/** Tells the player that the verdict on a piece is shown. */
export function shown() {
  clearTimeout(timer);
  if (advance) timer = setTimeout(advance, pace);
}

/** Shows the arguments, how many of their bytes have arrived, and the byte that decided, -1 for none. */
export function show(bytes, at, end, decidedAt) {
  total = bytes.length;
  slider.max = total + 1;
  slider.value = end ? total + 1 : at;
  slider.setAttribute('aria-valuetext', end ? `all ${count(total, 'byte')}, the end of the arguments` : `${at} of ${count(total, 'byte')}`);
  const cut = boundary(bytes, at);
  const text = (from, to) => new TextDecoder().decode(bytes.subarray(from, to));
  const parts = [];
  if (decidedAt > 0 && decidedAt <= cut) {
    const from = boundary(bytes, decidedAt - 1);
    const to = boundary(bytes, decidedAt);
    parts.push(text(0, from), make('span', { class: 'decided', title: `byte ${decidedAt}` }, text(from, to)), text(to, cut));
  } else {
    parts.push(text(0, cut));
  }
  byId('bytes').replaceChildren(...parts, make('span', { class: 'rest' }, text(cut)));
}

/** The start of the character that contains byte n. */
function boundary(bytes, n) {
  let i = n;
  while (i > 0 && i < bytes.length && (bytes[i] & 0xc0) === 0x80) i--;
  return i;
}
