// One request: it ends within its time, and what kept it from its answer is said in one sentence.

const PATIENCE_MS = 30_000;
export const SILENT = 'The server cannot be reached.';
export const LOST = 'The connection was lost.';

/** Why a request was not answered as wished, in one sentence. */
export class Problem extends Error {
  /** `status` is 0 without an answer; `wait_s` is how long the server asks to wait, if it does. */
  constructor(sentence, status, wait_s) {
    super(sentence);
    Object.assign(this, { status, wait_s });
  }

  /** Whether the same request may succeed later. */
  get passes() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Fetch within `patience_ms`, its body too; without an answer, a `Problem` is thrown. */
export async function reach(address, options = {}, { patience_ms: patience = PATIENCE_MS, ask = fetch } = {}) {
  const ended = new AbortController();
  for (const signal of [options.signal, AbortSignal.timeout(patience)]) {
    signal?.addEventListener('abort', () => ended.abort());
  }
  try {
    return await ask(address, { ...options, signal: ended.signal });
  } catch {
    throw new Problem(navigator.onLine ? SILENT : 'You are offline.', 0);
  }
}

/** The JSON of an answer; a `Problem` if there is none, or if it is a refusal. */
export async function jsonOf(answer) {
  const content = await answer.json().catch(() => null);
  if (answer.ok && content) return content;
  throw problemOf(answer, content);
}

/** What is wrong with an answer, of which `content` is the JSON, if it is any. */
export function problemOf(answer, content) {
  return new Problem(sentenceOf(answer, content), answer.ok ? 0 : answer.status, waitOf(answer));
}

/** Only our own sentences are shown; a proxy answers with pages of its own. */
function sentenceOf({ status, ok }, content) {
  if (ok) return LOST;
  if (typeof content?.error === 'string') return content.error;
  if (status === 413) return 'The file is too large for this server.';
  if (status === 429) return 'There were too many requests from here.';
  return [502, 503, 504].includes(status) ? SILENT : 'The server failed.';
}

function waitOf({ headers }) {
  const seconds = Number(headers.get('Retry-After') ?? NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}
