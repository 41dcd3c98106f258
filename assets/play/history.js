// The finished rounds that this browser remembers.
import { make, named } from './dom.js';
import { keep, recall } from './store.js';

const MOST = 200;
const MODES = { free: 'Free play', daily: 'Daily five', challenge: 'Challenge', model: 'Against a model', room: 'Room' };

const isEntry = (entry) => Number.isInteger(entry?.total) && Number.isInteger(entry.max_total)
  && typeof entry.finished_utc === 'string' && typeof entry.label === 'string' && Object.hasOwn(MODES, entry.mode);
const points = (number) => number.toLocaleString('en');

/** The entries, the oldest first; what is no entry is left out. */
export function remembered() {
  const kept = recall('history', []);
  return Array.isArray(kept) ? kept.filter(isEntry) : [];
}

/** Remember a finished round, once. */
export function remember(entry) {
  const kept = remembered();
  if (kept.every(({ code }) => code !== entry.code)) keep('history', [...kept, entry].slice(-MOST));
}

/** Show all entries in `box`, the newest first. */
export function list(box) {
  const rounds = remembered().reverse();
  if (!rounds.length) return box.replaceChildren(muted('No finished rounds yet. The list is kept in your browser only.'));
  const totals = rounds.map(({ total }) => total);
  const mean = Math.round(totals.reduce((sum, total) => sum + total, 0) / totals.length);
  box.replaceChildren(
    muted(`${rounds.length} round${rounds.length > 1 ? 's' : ''}, best ${points(Math.max(...totals))}, average ${points(mean)} points. This list is kept in your browser only.`),
    scrolling(tableOf(rounds)),
  );
}

const muted = (text) => make('p', { className: 'agl-muted' }, text);

function scrolling(table) {
  const box = make('div', { className: 'agl-scroll', tabIndex: 0, ariaLabel: 'Your rounds' }, table);
  box.setAttribute('role', 'region');
  return box;
}

function tableOf(rounds) {
  const heads = ['When (UTC)', 'Round', 'Total'].map((name) => make('th', { scope: 'col' }, name));
  return make('table', { className: 'agl-rounds agl-history-table' },
    make('caption', { className: 'agl-sr-only' }, 'Your rounds, newest first'),
    make('thead', {}, make('tr', {}, ...heads)),
    make('tbody', { className: 'agl-numbers' }, ...rounds.map(rowOf)));
}

function rowOf({ finished_utc: finished, mode, label, total, max_total: most, versus }) {
  const name = ['daily', 'room'].includes(mode) ? `${MODES[mode]} ${label}` : MODES[mode];
  const against = Number.isInteger(versus?.total) ? [' · ', named(versus.name), ` ${points(versus.total)}`] : [];
  return make('tr', {},
    make('td', {}, finished.slice(0, 16).replace('T', ' ')),
    make('td', { className: 'agl-wrap' }, name, ...against),
    make('td', {}, `${points(total)} of ${points(most)}`));
}
