// The play API, as docs/play-api.md describes it. Addresses are relative to the page.

const PATIENCE_MS = 30_000;
const SILENT = 'The server cannot be reached.';
const LOST = 'The connection was lost.';

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

/** Send an action of the player; resolves to the round as it is then. */
export const act = (action, content) => ask(`${action}?fragments=1`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(content),
});

/** Something about a player's rounds, or about all players if `player` is "". */
export const look = (what, player) => ask(what, {
  headers: player ? { Authorization: `Bearer ${player}` } : {},
});

/** As `look`, with a tag to send the next time; null if nothing has changed since `tag`. */
export async function lookIfChanged(what, player, tag) {
  const headers = { Authorization: `Bearer ${player}`, ...(tag ? { 'If-None-Match': tag } : {}) };
  const answer = await reach(what, { headers });
  if (answer.status === 304) return null;
  return { content: await contentOf(answer), tag: answer.headers.get('ETag') };
}

/** A file about a player. */
export async function file(what, player) {
  const answer = await reach(what, { headers: { Authorization: `Bearer ${player}` } });
  if (!answer.ok) return contentOf(answer);
  return answer.blob().catch(() => { throw new Problem(LOST, 0); });
}

const ask = async (path, options) => contentOf(await reach(path, options));

async function contentOf(answer) {
  const content = await answer.json().catch(() => null);
  if (answer.ok && content) return content;
  if (answer.ok) throw new Problem(LOST, 0);
  throw new Problem(sentenceOf(answer, content), answer.status, waitOf(answer));
}

async function reach(path, options) {
  const address = new URL(`api/play/${path}`, document.baseURI);
  try {
    return await fetch(address, { ...options, signal: AbortSignal.timeout(PATIENCE_MS), cache: 'no-store' });
  } catch {
    throw new Problem(navigator.onLine ? SILENT : 'You are offline.', 0);
  }
}

/** Only our own sentences are shown; a proxy answers with pages of its own. */
function sentenceOf({ status }, content) {
  if (typeof content?.error === 'string') return content.error;
  if (status === 429) return 'There were too many requests from here.';
  return [502, 503, 504].includes(status) ? SILENT : 'The server failed.';
}

function waitOf({ headers }) {
  const seconds = Number(headers.get('Retry-After') ?? NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}
