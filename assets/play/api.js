// The play API, as docs/play-api.md describes it. Addresses are relative to the page.
import { LOST, Problem, jsonOf, reach } from '../reach.js';

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
  const answer = await askFor(what, { headers });
  if (answer.status === 304) return null;
  return { content: await jsonOf(answer), tag: answer.headers.get('ETag') };
}

/** A file about a player. */
export async function file(what, player) {
  const answer = await askFor(what, { headers: { Authorization: `Bearer ${player}` } });
  if (!answer.ok) return jsonOf(answer);
  return answer.blob().catch(() => { throw new Problem(LOST, 0); });
}

const ask = async (path, options) => jsonOf(await askFor(path, options));

const askFor = (path, options) => reach(new URL(`api/play/${path}`, document.baseURI), { ...options, cache: 'no-store' });
