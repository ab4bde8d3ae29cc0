// Limits of the input in bytes, those of the decision core (internal/playground).
export const limits = { policy: 256 << 10, args: 64 << 10, before: 64 << 10, tool: 1 << 10 };

const encoder = new TextEncoder();

/** The UTF-8 of a text. */
export const utf8 = (text) => encoder.encode(text);

/** Returns why a state is too large for the core, or ''. */
export function tooLarge(state) {
  for (const [name, most] of Object.entries(limits)) {
    // A text has at most three bytes for each of its units.
    if (state[name].length * 3 > most && utf8(state[name]).length > most) {
      return `${names[name]} is longer than ${most} bytes, which is the limit of the playground.`;
    }
  }
  return '';
}

const names = { policy: 'The policy', args: 'The text of the arguments', before: 'The text of what came before', tool: 'The name of the tool' };
