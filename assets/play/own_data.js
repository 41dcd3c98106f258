// "Your rounds", as the server has them: open a finished one again, go on with another, download all
// answers, and play on another device.
import { act, file, look } from './api.js';
import { addSheet, make, tell } from './dom.js';
import { keep, recall } from './store.js';

addSheet('afterwards.css');

const MODES = { free: 'Free play', daily: 'Daily five', challenge: 'Challenge', model: 'Against a model', room: 'Room' };
const button = (text, act, className = 'agl-button') => {
  const made = make('button', { type: 'button', className }, text);
  made.addEventListener('click', act);
  return made;
};
const when = (time) => time.slice(0, 16).replace('T', ' ');
const nameOf = ({ mode, label }) => (['daily', 'room'].includes(mode) ? `${MODES[mode]} ${label}` : MODES[mode]);

export class OwnData {
  /** `stage` has `player`, `show(round)`, `become(player)`; `local` is the browser's own list. */
  constructor(box, local, stage) {
    Object.assign(this, { box, local, stage });
    this.message = make('div');
    this.rounds = make('div');
    box.replaceChildren(this.message, this.rounds, this.downloads(), this.devices());
  }

  async refresh() {
    await this.trying(async () => {
      const { finished, unfinished } = await look('rounds', this.stage.player);
      this.local.hidden = finished.length + unfinished.length > 0;
      this.rounds.replaceChildren(
        ...this.table('To go on with', unfinished, 'Go on', (id) => act('takeup', { player: this.stage.player, id })),
        ...this.table('Finished', finished, 'Open', (id) => look(`rounds/${id}?fragments=1`, this.stage.player)));
    });
  }

  table(title, rounds, word, ask) {
    if (!rounds.length) return [];
    const rows = rounds.map((round) => {
      const far = round.finished_utc ? `${round.total.toLocaleString('en')} of ${round.max_total.toLocaleString('en')}` : `${round.answered} of ${round.n_clips} clips`;
      const name = `${nameOf(round)}, ${when(round.finished_utc ?? round.begun_utc)}`;
      const open = button(word, () => this.open(() => ask(round.id)), 'agl-button agl-small-button');
      open.setAttribute('aria-label', `${word}: ${name}`);
      return make('tr', {}, make('td', { className: 'agl-wrap' }, nameOf(round), make('div', { className: 'agl-muted agl-small' }, when(round.finished_utc ?? round.begun_utc))),
        make('td', {}, far), make('td', {}, open));
    });
    const heads = ['Round, UTC', word === 'Open' ? 'Points' : 'Answered'].map((head) => make('th', { scope: 'col' }, head));
    heads.push(make('th', { scope: 'col' }, make('span', { className: 'agl-sr-only' }, word)));
    const table = make('table', { className: 'agl-rounds agl-own-table' }, make('caption', {}, title),
      make('thead', {}, make('tr', {}, ...heads)), make('tbody', { className: 'agl-numbers' }, ...rows));
    const box = make('div', { className: 'agl-scroll', tabIndex: 0, ariaLabel: title }, table);
    box.setAttribute('role', 'region');
    return [box];
  }

  open(ask) {
    return this.trying(() => this.stage.display(ask));
  }

  downloads() {
    const one = (ending) => button(ending.toUpperCase(), () => this.trying(async () => {
      const href = URL.createObjectURL(await file(`export.${ending}`, this.stage.player));
      make('a', { href, download: `agl1k-my-rounds.${ending}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    }));
    return make('p', { className: 'agl-own-line' }, 'All your answers as ', one('csv'), one('json'));
  }

  devices() {
    const code = make('output', { className: 'agl-numbers' });
    const give = button('Show a code', () => this.trying(async () => {
      const { code: text, valid_s: left } = await act('code', { player: this.stage.player });
      code.textContent = `${text} – enter it on the other device within ${left / 60} minutes. It works once.`;
    }));
    const field = make('input', { type: 'text', maxLength: 40, autocomplete: 'off', spellcheck: false, required: true });
    const form = make('form', { className: 'agl-form' },
      make('label', { className: 'agl-labelled' }, make('span', {}, 'Code of another device'), field),
      make('button', { type: 'submit', className: 'agl-button' }, 'Become that player'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.trying(async () => this.become((await act('carry', { code: field.value })).player, form));
    });
    this.back = button('Back to the earlier player', () => this.trying(() => this.become(recall('player-before', ''))));
    this.back.hidden = !recall('player-before', '');
    return make('details', { className: 'agl-devices' }, make('summary', {}, 'Play on another device'),
      make('p', { className: 'agl-muted agl-small' }, 'A code makes another device yours. The rounds that were played there before are not joined to yours; that device can go back to them.'),
      make('p', { className: 'agl-own-line' }, give), code, form, this.back);
  }

  async become(player, form) {
    keep('player-before', this.stage.player);
    keep('history', []);
    form?.reset();
    this.back.hidden = false;
    await this.stage.become(player);
    await this.refresh();
    tell(this.message, 'This browser plays as that player now.');
  }

  async trying(work) {
    tell(this.message, '');
    try {
      await work();
    } catch (problem) {
      const action = problem.passes ? button('Try again', () => this.trying(work)) : null;
      tell(this.message, problem.message, { alarm: true, action });
    }
  }
}
