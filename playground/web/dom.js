// Elements of the page. Texts are set as text: nothing is parsed as HTML.

/** Returns the element with an id. */
export const byId = (id) => document.getElementById(id);

/** Makes an element with a class, properties and children: elements and texts. */
export function make(tag, { class: name, ...properties } = {}, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  Object.assign(element, properties);
  element.append(...children.filter((c) => c !== undefined && c !== ''));
  return element;
}

/** Shows a message, or hides it for ''. */
export function alertWith(text) {
  const box = byId('alert');
  box.textContent = text;
  box.hidden = text === '';
}

/** Counts things in words: count(1, 'byte') is "1 byte". */
export const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
