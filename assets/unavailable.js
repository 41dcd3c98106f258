// The requests of Gradio's components. Gradio would wait for them without end, and cover its parts with
// the word "Error". Here each ends within its time; why it was not answered is told in one notice, with
// one button that tries again, and what was typed or chosen stays as it is.
import { Problem, problemOf, reach } from './reach.js';

const QUICK_MS = 30_000;
//: Files wait for their turn to be scored.
const SCORING_MS = 120_000;
//: The slowest upload that the server takes.
const BYTES_PER_MS = 4;
//: Until Gradio has put away an event that it takes for answered.
const SETTLED_MS = 200;
const UNHARMED = 'Nothing you entered is lost, and nothing is done twice: try again.';

const ask = window.fetch;
const failed = new Set(); // what the button tries again
let notice = null;
let why = '';

/** An event that the server answers. */
class Event {
  constructor({ body }) {
    const { fn_index: id } = JSON.parse(body);
    Object.assign(this, window.gradio_config.dependencies.find((one) => one.id === id));
  }

  get patience_ms() { return this.show_progress === 'hidden' ? QUICK_MS : SCORING_MS; }

  /** The button that causes it; other events cannot be caused again from here. */
  get button() {
    const clicked = this.targets.find(([, name]) => name === 'click');
    return clicked && document.getElementById(idOf(clicked[0]));
  }

  /** Whether somebody who uses this element begins the event anew, or changes what it is about. */
  concerns(element) {
    const parts = [...this.inputs, ...this.targets.map(([id]) => id)];
    return parts.some((id) => element.closest(`#${CSS.escape(idOf(id))}`));
  }

  /** An answer that changes nothing. */
  unanswered() {
    return json({ data: this.outputs.map(() => ({ __type__: 'update' })), is_generating: false, duration: 0, average_duration: 0 });
  }
}

class Upload {
  constructor({ body }) { this.body = body; }

  get patience_ms() {
    const sizes = [...this.body.values()].map(({ size = 0 }) => size);
    return QUICK_MS + sizes.reduce((sum, size) => sum + size, 0) / BYTES_PER_MS;
  }

  concerns(element) { return Boolean(element.closest('.block:has(.upload-container, .progress-bar, .uploading)')); }

  /** No file. */
  unanswered() { return json([]); }
}

const KINDS = [['/gradio_api/run/', Event], ['/gradio_api/upload', Upload]];

const json = (content) => new Response(JSON.stringify(content), { headers: { 'Content-Type': 'application/json' } });

function idOf(id) {
  const component = window.gradio_config.components.find((one) => one.id === id); // none for the page itself
  return component?.props.elem_id || `component-${id}`;
}

window.fetch = (...given) => {
  const path = new URL(given[0]?.url ?? given[0], document.baseURI).pathname;
  const [, Kind] = KINDS.find(([part]) => path.includes(part) && !path.endsWith('_progress')) ?? [];
  return Kind ? bring(new Kind(given[1]), ...given) : ask(...given);
};

async function bring(request, address, options) {
  const headers = new Headers(options.headers);
  headers.set('Idempotency-Key', attempt);
  for (;;) {
    try {
      const answer = await answerTo(request, address, { ...options, headers });
      succeed();
      return answer;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (problem.isRefusal) show(problem.message);
      if (problem.isRefusal || !await isTriedAgain(request, problem)) return request.unanswered();
    }
  }
}

async function answerTo({ patience_ms }, address, options) {
  const answer = await reach(address, options, { patience_ms, ask });
  const content = await answer.json().catch(() => undefined);
  if (answer.ok && content !== undefined) return json(content);
  throw Object.assign(problemOf(answer, content), { isRefusal: isRefusal(answer, content) });
}

/** Whether the same would be refused again: the sentence is about what was sent. */
function isRefusal({ status }, content) {
  return status === 413 || (typeof content?.error === 'string' && ![429, 502, 503, 504].includes(status));
}

/** Tell why; resolves to whether to send the same again. */
function isTriedAgain(request, { message }) {
  return new Promise((resolve) => {
    const end = (again) => {
      failed.delete(one);
      show();
      resolve(again);
      if (again && request.button) request.button.click(); // with what the form holds by then
    };
    const one = { request, end };
    failed.add(one);
    const tell = () => { if (failed.has(one)) show(`${message} ${UNHARMED}`); };
    if (request.button) {
      resolve(false);
      setTimeout(tell, SETTLED_MS);
    } else tell();
  });
}

function succeed() {
  for (const { request, end } of [...failed]) end(!request.button);
  show('');
}

/** Show one notice, or none for ""; without its button if there is nothing to try again. */
function show(text = why) {
  why = text;
  notice?.remove();
  notice = null;
  if (!why) return;
  notice = Object.assign(document.createElement('p'), { id: 'agl-unavailable', className: 'agl-notice agl-below' });
  notice.setAttribute('role', 'alert');
  notice.append(why);
  if (failed.size) {
    const again = Object.assign(document.createElement('button'), { type: 'button', className: 'agl-button', textContent: 'Try again' });
    again.addEventListener('click', () => { for (const { end } of [...failed]) end(true); });
    notice.append(' ', again);
  }
  document.body.append(notice);
}

for (const event of ['click', 'input', 'change', 'drop']) {
  addEventListener(event, ({ target }) => {
    if (!(target instanceof Element)) return;
    for (const { request, end } of [...failed]) if (request.concerns(target)) end(false);
  }, true);
}
addEventListener('online', () => {
  for (const { request, end } of [...failed]) if (!request.button) end(true);
});

// What is published by the same attempt and file is published once. It is for this tab, and lasts for reloads.
const KEY = 'agl1k-attempt';
let attempt = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
try {
  attempt = sessionStorage.getItem(KEY) ?? attempt;
  sessionStorage.setItem(KEY, attempt);
} catch {
  // nothing can be stored: a reload is another attempt
}
