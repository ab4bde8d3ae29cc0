// Links with the state of the page in their fragment, which no server sees:
//
//	#1.BASE64URL(DEFLATE(JSON {policy, tool, args, before, at, end}))
//
// A link is hostile input: it is bounded before and while it is decompressed, its members are texts
// and numbers or the link is refused, and they become values of fields, never HTML.

import { limits, tooLarge } from './limits.js';

const version = '#1.';
const mostLink = 256 << 10; // characters
const mostText = 2 * (limits.policy + limits.args + limits.before + limits.tool); // escapes take room

/** The fragment of a state. */
export async function encode(state) {
  const { policy, tool, args, before, at, end } = state;
  const text = JSON.stringify({ policy, tool, args, before, at, end });
  const packed = await collect(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw')), mostText);
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  const fragment = version + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  if (fragment.length > mostLink) throw new Error('The state is too large for a link.');
  return fragment;
}

/** The state of a fragment, null for an empty one. The error is one sentence. */
export async function decode(fragment) {
  if (fragment === '' || fragment === '#') return null;
  if (fragment.length > mostLink) throw new Error('The link is longer than the playground reads.');
  const code = fragment.slice(version.length);
  if (!fragment.startsWith(version) || !/^[A-Za-z0-9_-]+$/.test(code)) throw new Error('The link was not made by the playground, or is not complete.');
  let state;
  try {
    const binary = atob(code.replaceAll('-', '+').replaceAll('_', '/'));
    const packed = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const bytes = await collect(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')), mostText);
    state = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Error('The link cannot be read: it is damaged, or larger than the playground reads.');
  }
  return checked(state);
}

function checked(state) {
  const clean = {};
  for (const name of ['policy', 'tool', 'args', 'before']) {
    if (typeof state?.[name] !== 'string') throw new Error(`The link has no text "${name}".`);
    clean[name] = state[name];
  }
  clean.at = Number.isInteger(state.at) && state.at >= 0 ? state.at : 0;
  clean.end = state.end === true;
  const why = tooLarge(clean);
  if (why) throw new Error(why);
  return clean;
}

/** Reads a stream of at most most bytes. */
async function collect(stream, most) {
  const pieces = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error('too large');
    }
    pieces.push(value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
