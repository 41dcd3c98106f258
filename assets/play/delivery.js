// Bringing an action to the server through lost connections and refusals. The server stores an
// answer once, however often it is sent, so that sending it again is safe.
import { act, look } from './api.js';
import { open } from './opening.js';

const PAUSES_S = [1, 2, 4, 8, 15, 30, 60];
//: What is not stored yet, by action; other actions store no answer.
const ANSWERS = { guess: 'Your guess', timeup: 'Your guess', skip: 'Your answer', broken: 'Your report' };

/**
 * Send an action until the server has answered; resolves to the round as it is then.
 *
 * `contentOf` makes the content of each try. `pause(sentence, pause_s)` says why the answer has to
 * wait, and resolves to whether it is to be sent again; if not, so does this, to null. With a
 * `pause_s` of null, nothing happens by itself. A problem that does not pass is thrown.
 */
export async function deliver(action, contentOf, pause) {
  for (let tries = 0; ; tries += 1) {
    const content = contentOf();
    try {
      return await (action === 'open' ? open(content) : act(action, content));
    } catch (problem) {
      if (!problem.passes) throw problem;
      const fate = await fateOf(action, content, problem);
      if (fate.round) return fate.round;
      const pause_s = tries < PAUSES_S.length ? Math.max(problem.wait_s ?? 0, PAUSES_S[tries]) : null;
      if (!await pause(sentenceOf(action, problem, fate, pause_s !== null), pause_s)) return null;
    }
  }
}

/** Whether an answer was stored: its round then, or { isStored: false }, or {} if nobody knows. */
async function fateOf(action, content, problem) {
  if (!(action in ANSWERS)) return {};
  if (problem.status === 429) return { isStored: false };
  try {
    const round = await look('state?fragments=1', content.player);
    if (round.round === content.round && round.phase === 'playing') return { isStored: false };
    return { round: { ...round, notes: [`The connection was lost, but ${ANSWERS[action].toLowerCase()} was stored.`, ...round.notes] } };
  } catch {
    return {};
  }
}

function sentenceOf(action, { message }, { isStored }, isRepeated) {
  const name = ANSWERS[action];
  const again = isRepeated ? 'It is sent again by itself.' : 'Send it again when you are ready.';
  if (!name) return `${message} ${isRepeated ? 'The page tries again by itself.' : ''}`;
  if (isStored === false) return `${message} ${name} is not stored yet; your pin stays. ${again}`;
  return `${message} Nobody knows yet whether ${name.toLowerCase()} was stored; your pin stays. ${again}`;
}
