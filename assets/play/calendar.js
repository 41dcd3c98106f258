// The calendar of all dailies: a month as a grid of days with the player's results.
import { make } from './dom.js';

const DAY_MS = 86_400_000;
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

const timeOf = (day) => Date.parse(`${day}T00:00:00Z`);
const moved = (day, days) => new Date(timeOf(day) + days * DAY_MS).toISOString().slice(0, 10);
const weekdayOf = (day) => (new Date(timeOf(day)).getUTCDay() + 6) % 7;
const words = (day, style) => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...style }).format(timeOf(day));
const nameOf = (month) => words(`${month}-01`, { month: 'long', year: 'numeric' });

/** The month before or after one like "2026-11". */
function monthBeside(month, step) {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + step);
  return date.toISOString().slice(0, 7);
}

export class Calendar {
  /** `ask(month)` resolves to the dailies of a month; `choose(day)` plays a day. */
  constructor(box, ask, choose) {
    Object.assign(this, { box, ask, choose, turn: 0 });
    this.back = this.turner('Earlier', '‹', -1);
    this.forth = this.turner('Later', '›', 1);
    this.title = make('h2', { id: 'agl-month' });
    this.title.setAttribute('aria-live', 'polite');
    this.table = make('table', { className: 'agl-month' });
    this.table.setAttribute('role', 'grid');
    this.table.setAttribute('aria-labelledby', 'agl-month');
    this.table.addEventListener('keydown', (event) => this.onKey(event));
    const bar = make('div', { className: 'agl-month-bar' }, this.back, this.title, this.forth);
    box.replaceChildren(bar, this.table);
  }

  turner(label, text, step) {
    const button = make('button', { type: 'button', className: 'agl-button', ariaLabel: `${label} month` }, text);
    button.addEventListener('click', () => this.show(monthBeside(this.month, step)));
    return button;
  }

  /** Show a month; the focus moves to `focused`, a day, if one is given. */
  async show(month, focused = null) {
    const turn = this.turn += 1;
    const days = await this.ask(month);
    if (turn !== this.turn) return;
    Object.assign(this, { month, first: days.first, today: days.today });
    this.title.textContent = nameOf(month);
    this.back.disabled = month <= days.first.slice(0, 7);
    this.forth.disabled = month >= days.today.slice(0, 7);
    this.draw(new Map(days.entries.map((entry) => [entry.day, entry])));
    this.aimAt(focused ?? this.table.querySelector('[aria-current]')?.dataset.day ?? days.entries[0]?.day);
    if (focused) this.dayButton(focused)?.focus();
  }

  draw(entries) {
    const heads = WEEKDAYS.map((name) => make('th', { scope: 'col', abbr: name }, name.slice(0, 2)));
    const weeks = [];
    const start = moved(`${this.month}-01`, -weekdayOf(`${this.month}-01`));
    for (let day = start; day.slice(0, 7) <= this.month; day = moved(day, 7)) {
      weeks.push(make('tr', {}, ...WEEKDAYS.map((_, n) => this.cellOf(moved(day, n), entries))));
    }
    this.table.replaceChildren(make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...weeks));
  }

  cellOf(day, entries) {
    if (day.slice(0, 7) !== this.month) return make('td');
    const entry = entries.get(day);
    const number = String(Number(day.slice(8)));
    return make('td', {}, entry ? this.buttonOf(entry, number) : make('span', {}, number));
  }

  buttonOf({ day, state, total }, number) {
    const done = state === 'finished';
    const result = { started: 'started', finished: `${(total ?? 0).toLocaleString('en')} points` }[state] ?? 'not played yet';
    const date = words(day, { weekday: 'long', day: 'numeric', month: 'long' });
    const button = make('button', { type: 'button', className: `agl-day is-${state}`, tabIndex: -1, ariaLabel: `${date}: ${result}` },
      make('span', {}, number), ...(done ? [make('small', {}, short(total))] : []));
    button.dataset.day = day;
    if (day === this.today) button.setAttribute('aria-current', 'date');
    button.addEventListener('click', () => this.choose(day));
    return button;
  }

  dayButton(day) {
    return this.table.querySelector(`[data-day="${day}"]`);
  }

  /** The one day that Tab reaches. */
  aimAt(day) {
    for (const button of this.table.querySelectorAll('.agl-day')) button.tabIndex = button.dataset.day === day ? 0 : -1;
  }

  onKey(event) {
    const { day } = event.target.dataset;
    const target = day && this.targetOf(event.key, day);
    if (!target) return;
    event.preventDefault();
    const kept = [this.first, target, this.today].sort()[1]; // not before the first, not after today
    if (kept.slice(0, 7) !== this.month) return void this.show(kept.slice(0, 7), kept);
    this.aimAt(kept);
    this.dayButton(kept).focus();
  }

  targetOf(key, day) {
    if (key in STEPS) return moved(day, STEPS[key]);
    if (key === 'Home') return moved(day, -weekdayOf(day));
    if (key === 'End') return moved(day, 6 - weekdayOf(day));
    if (key === 'PageUp' || key === 'PageDown') return sameDayIn(monthBeside(this.month, key === 'PageUp' ? -1 : 1), day);
    return null;
  }
}

/** The day of `month` with the number of `day`, or its last. */
function sameDayIn(month, day) {
  const last = moved(`${monthBeside(month, 1)}-01`, -1);
  return [`${month}-${day.slice(8)}`, last].sort()[0];
}

/** Points in a few characters: 950, 18.2k. */
const short = (total) => (total < 1000 ? String(total ?? 0) : `${(total / 1000).toFixed(1)}k`);
