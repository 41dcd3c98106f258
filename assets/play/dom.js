// Small helpers for elements.

/** Give `node` this HTML from the server, unless it has it already. */
export function fill(node, html) {
  if (node.filledWith === html) return;
  node.filledWith = html;
  node.innerHTML = html;
}

/** A new element with these properties and children; texts are not read as HTML. */
export function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** A name that somebody chose, for an element in a sentence: its direction stays its own. */
export const named = (name) => make('bdi', {}, name);

/** The same for a text that has no elements. */
export const isolated = (name) => `\u2068${name}\u2069`;

/** Load a style sheet of ours, once; `name` is its file in assets/. */
export function addSheet(name) {
  const { href } = new URL(`../${name}`, import.meta.url);
  document.head.append(make('link', { rel: 'stylesheet', href }));
}

/** Show a message in `box`, one paragraph a line; an alarm interrupts screen readers. */
export function tell(box, text, { alarm = false, action = null } = {}) {
  const parts = text.split('\n').map((line) => make('p', {}, line));
  const frame = make('div', { className: alarm ? 'agl-error' : 'agl-notice' }, ...parts, ...(action ? [action] : []));
  frame.setAttribute('role', alarm ? 'alert' : 'status');
  box.replaceChildren(...(text ? [frame] : []));
}
