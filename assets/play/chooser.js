// The panel in which a player chooses the next round.
import { look } from './api.js';
import { fill, make, tell } from './dom.js';
import { keep, recall } from './store.js';

export class Chooser {
  /** `playerOf` returns the player's token; `start` begins the round that is chosen. */
  constructor(panel, playerOf, start) {
    Object.assign(this, { panel, playerOf, start, form: panel.querySelector('form') });
    this.fields = this.form.elements;
    this.message = panel.querySelector('#agl-chooser-message');
    this.fields.nickname.value = recall('nickname', '');
    this.fields.nickname.addEventListener('change', () => keep('nickname', this.nickname));
    panel.addEventListener('toggle', () => this.showDays());
    for (const mode of this.fields.mode) mode.addEventListener('change', () => this.showMode());
    this.fields.benchmark.addEventListener('change', () => this.showBenchmark());
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.begin();
    });
    this.showMode();
    this.showBenchmark();
  }

  get nickname() {
    return this.fields.nickname.value.trim();
  }

  /** The choice, as the play API takes it. */
  get wish() {
    const { mode, benchmark, speech, continent, timer, day, code } = this.fields;
    return {
      mode: mode.value, benchmark: benchmark.value, speech: speech.value, continent: continent.value,
      timer_s: Number(timer.value) || null, day: day.value, code: code.value };
  }

  async begin() {
    tell(this.message, '');
    try {
      if (await this.start(this.wish)) this.panel.open = false;
    } catch (problem) {
      tell(this.message, problem.message, { alarm: true });
    }
  }

  showMode() {
    for (const part of this.form.querySelectorAll('[data-mode]')) part.hidden = part.dataset.mode !== this.fields.mode.value;
    this.showDays();
  }

  showBenchmark() {
    const options = this.panel.querySelector(`template[data-benchmark="${CSS.escape(this.fields.benchmark.value)}"]`);
    this.fields.continent.replaceChildren(options.content.cloneNode(true));
    this.showDays();
  }

  /** The days that can be played, with results: asked for only while they are seen. */
  async showDays() {
    if (!this.panel.open || this.fields.mode.value !== 'daily' || !this.playerOf()) return;
    const benchmark = encodeURIComponent(this.fields.benchmark.value);
    try {
      this.listDays(await look(`dailies?fragments=1&benchmark=${benchmark}`, this.playerOf()));
    } catch (problem) {
      tell(this.message, problem.message, { alarm: true });
    }
  }

  listDays({ fragments: { days, streak } }) {
    const { day } = this.fields;
    const chosen = day.value;
    day.replaceChildren(...days.map(([label, value]) => make('option', { value }, label)));
    if (days.some(([, value]) => value === chosen)) day.value = chosen;
    fill(this.panel.querySelector('#agl-streak'), streak);
  }
}
