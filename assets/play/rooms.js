// Rooms: the panel in which one is opened or joined, and how everybody in it stands.
import { copy } from '../copying.js';
import { lookIfChanged } from './api.js';
import { addSheet, make, named, tell } from './dom.js';

const EVERY_S = 3;
//: Once all are done, there is only the next round to wait for.
const LATER_S = 8;
const TROUBLED_S = 15;
const OLD = 'These standings are from before. ';
const points = (number) => number.toLocaleString('en');

addSheet('rooms.css');

/** The panel opens a room, or joins the one whose code is typed. */
export function prepare(panel) {
  if (panel.isPrepared) return;
  panel.isPrepared = true;
  const { code } = panel.elements;
  const isShown = new Map([...panel.querySelectorAll('[data-new]')].map((field) => [field, !field.hidden]));
  const adapt = () => {
    const joins = Boolean(code.value.trim());
    for (const [field, shown] of isShown) field.hidden = joins || !shown;
    panel.querySelector('[type=submit]').textContent = joins ? 'Join the room' : 'Open a new room';
  };
  code.addEventListener('input', adapt);
  adapt();
}

/** How everybody stands in the room of the current round; looked up while the page is seen. */
export class Standings {
  /** `playerOf` returns the player's token; `join(code)` joins the room's next round, `begin` begins it. */
  constructor(box, { playerOf, join, begin }) {
    Object.assign(this, { box, playerOf, join, begin, room: null, waiting: null, turn: 0 });
    this.told = make('div');
    document.addEventListener('visibilitychange', () => this.look());
    addEventListener('online', () => this.look());
  }

  /** Show the room of a round; nothing, if it is in none. */
  follow({ room, phase }) {
    this.isFinished = phase === 'finished';
    if (!room) return this.leave();
    if (this.room?.code !== room.code || this.room.game !== room.game) {
      Object.assign(this, { room, tag: null, found: null });
      this.box.replaceChildren();
    }
    if (this.found) this.show();
    return this.look();
  }

  leave() {
    clearTimeout(this.waiting);
    this.turn += 1;
    this.room = null;
    this.box.replaceChildren();
  }

  async look() {
    clearTimeout(this.waiting);
    if (!this.room || document.hidden) return;
    const turn = this.turn += 1;
    const pause_s = await this.update(() => turn === this.turn);
    if (pause_s && turn === this.turn) this.waiting = setTimeout(() => this.look(), 1000 * pause_s);
  }

  /** Look once; resolves to when to look again, or null if that is of no use. */
  async update(isCurrent) {
    const { code, game } = this.room;
    try {
      const news = await lookIfChanged(`room?code=${code}&game=${game}`, this.playerOf(), this.tag);
      if (isCurrent()) this.say('');
      if (news && isCurrent()) {
        Object.assign(this, { tag: news.tag, found: news.content });
        this.show();
      }
      return this.found?.is_over ? LATER_S : EVERY_S;
    } catch (problem) {
      if (isCurrent()) this.say(problem.passes ? `${problem.message} ${this.found ? OLD : ''}The page looks again by itself.` : problem.message);
      return problem.passes ? Math.max(TROUBLED_S, problem.wait_s ?? 0) : null;
    }
  }

  /** Say a sentence below the standings, once; "" takes it back. */
  say(sentence) {
    if (this.told.isConnected && this.told.textContent === sentence) return;
    tell(this.told, sentence);
    if (sentence) this.box.append(this.told);
    else this.told.remove();
  }

  show() {
    const { box, found } = this;
    const focused = document.activeElement?.closest('#agl-versus [data-does]')?.dataset.does;
    box.replaceChildren(make('section', { className: 'agl-card agl-room', ariaLabel: `Room ${found.code}` },
      this.head(), ...this.invitation(), tableOf(found), spokenOf(found)));
    if (focused) box.querySelector(`[data-does=${focused}]`)?.focus({ preventScroll: true });
  }

  head() {
    const { code, game, is_over: isOver } = this.found;
    const title = make('p', {}, make('strong', {}, `Room ${code}`), `${game > 1 ? ` · round ${game}` : ''}${isOver ? ' · final' : ''}`);
    const link = new URL(`?room=${code}`, document.baseURI).href;
    return make('div', { className: 'agl-room-head' }, title, button('link', 'Copy link', ({ target }) => copy(link, target)));
  }

  invitation() {
    const { code, is_host: isHost, has_newer: hasNewer, players } = this.found;
    if (hasNewer) return [main(button('join', 'Join the next round', () => this.join(code)))];
    if (!this.isFinished) return [];
    if (isHost) return [main(button('begin', 'New round in this room', () => this.begin()))];
    const host = players.find((one) => one.is_host);
    return [make('p', { className: 'agl-muted agl-small' }, named(nameOf(host)), ' can start the next round. It shows here.')];
  }
}

const nameOf = (one) => one?.name || 'Somebody';

function button(does, label, onClick) {
  const made = make('button', { type: 'button', className: 'agl-button', onclick: onClick }, label);
  made.dataset.does = does;
  return made;
}

function main(made) {
  made.classList.add('agl-button-main');
  return made;
}

function tableOf({ players, n_clips: n }) {
  const heads = ['Name', 'Clips', 'Points'].map((name) => make('th', { scope: 'col' }, name));
  const table = make('table', { className: 'agl-small' },
    make('caption', { className: 'agl-muted' }, 'Points of clips that you have answered, too'),
    make('thead', {}, make('tr', {}, ...heads)),
    make('tbody', { className: 'agl-numbers' }, ...players.map((one) => rowOf(one, n))));
  const box = make('div', { className: 'agl-room-players', tabIndex: 0, ariaLabel: 'Standings' }, table);
  box.setAttribute('role', 'region');
  return box;
}

function rowOf(one, n) {
  const name = make('th', { scope: 'row' }, named(nameOf(one)), ...(one.is_you ? [make('span', { className: 'agl-muted' }, ' (you)')] : []));
  return make('tr', { className: one.is_you ? 'is-you' : '' }, name,
    make('td', {}, `${one.answered} of ${n}`), make('td', {}, points(one.total)));
}

/** For screen readers, who are told of changes only. */
function spokenOf({ players, is_over: isOver }) {
  const place = players.findIndex((one) => one.is_you) + 1;
  const spoken = make('p', { className: 'agl-sr-only' }, `You are number ${place} of ${players.length}${isOver ? '. Everybody has finished.' : '.'}`);
  spoken.setAttribute('role', 'status');
  return spoken;
}
