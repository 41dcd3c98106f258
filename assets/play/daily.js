// The button of today's five: the player's result, the streak, and the time until the next five.

const MINUTE_MS = 60_000;
const LOOK_MS = 15_000;
const points = (number) => number.toLocaleString('en');

/** The UTC day of a time in ms, like "2026-11-28". */
export const dayOf = (time) => new Date(time).toISOString().slice(0, 10);

export class DailyButton {
  /** `ask(month)` resolves to the player's dailies of a month, as the play API answers. */
  constructor(button, ask) {
    Object.assign(this, { button, ask, entry: null, streak: null, seen: '' });
    this.title = button.querySelector('strong');
    this.state = button.querySelector('span');
    this.paint();
    setInterval(() => this.tick(), LOOK_MS);
  }

  /** Ask how today stands, if that may have changed with this round. */
  follow({ mode, label, phase }) {
    const seen = [mode, label, phase === 'finished'].join();
    if (seen === this.seen) return;
    const mayDiffer = !this.seen || mode === 'daily';
    this.seen = seen;
    if (mayDiffer) this.refresh();
  }

  async refresh() {
    this.askedOn = dayOf(Date.now());
    try {
      const { entries, streak, today } = await this.ask(this.askedOn.slice(0, 7));
      Object.assign(this, { streak, entry: entries.find(({ day }) => day === today) ?? null });
    } catch { /* the button works without */ }
    this.paint();
  }

  tick() {
    if (this.askedOn && this.askedOn !== dayOf(Date.now())) this.refresh();
    else this.paint();
  }

  paint() {
    const { entry, streak } = this;
    const result = { started: ': go on', finished: `: ${points(entry?.total ?? 0)} points` }[entry?.state] ?? '';
    const parts = [streak?.days ? `streak ${streak.days}` : '', `next in ${untilTomorrow()}`];
    this.title.textContent = `Today’s five${result}`;
    this.state.textContent = parts.filter(Boolean).join(' · ');
  }
}

/** The time until 00:00 UTC, like "5 h 12 min". */
function untilTomorrow() {
  const now = Date.now();
  const minutes = Math.ceil((Date.parse(dayOf(now)) + 1440 * MINUTE_MS - now) / MINUTE_MS);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours ? `${hours} h` : '', rest || !hours ? `${rest} min` : ''].filter(Boolean).join(' ');
}
