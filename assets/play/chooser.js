// The ways to play: buttons, and the panel in which a round is chosen.
import { look } from './api.js';
import { fill, make, tell } from './dom.js';
import { keep, recall } from './store.js';

export class Chooser {
  /** `playerOf` returns the player's token; `start` begins the round that is chosen. */
  constructor(modes, panels, playerOf, start) {
    Object.assign(this, { panels, playerOf, start });
    this.buttons = [...modes.querySelectorAll('[data-mode]')];
    this.message = panels.querySelector('#agl-chooser-message');
    this.name = panels.querySelector('#agl-nickname input');
    this.name.value = recall('nickname', '');
    this.name.addEventListener('change', () => keep('nickname', this.nickname));
    modes.querySelector('#agl-daily').addEventListener('click', () => this.begin({ mode: 'daily' }));
    for (const button of this.buttons) this.prepare(button);
    panels.addEventListener('keydown', ({ key }) => key === 'Escape' && this.close());
    this.free.benchmark.addEventListener('change', () => this.showContinents());
    this.showContinents();
  }

  /** A button without a panel stays hidden. */
  prepare(button) {
    const { mode } = button.dataset;
    const panel = this.panelOf(mode);
    button.hidden = !panel;
    button.addEventListener('click', () => (panel.hidden ? this.open(mode) : this.close()));
    panel?.addEventListener('submit', (event) => {
      event.preventDefault();
      if (mode in WISHES) this.begin(WISHES[mode](panel.elements, this.free));
    });
  }

  panelOf(mode) {
    return this.panels.querySelector(`#agl-panel-${mode}`);
  }

  get free() {
    return this.panelOf('free').elements;
  }

  get nickname() {
    return this.name.value.trim();
  }

  open(mode) {
    this.show(mode);
    this.panelOf(mode).querySelector('input, select, button')?.focus();
    if (mode === 'days') this.showDays();
    if (mode === 'model') this.prepareWith('./versus.js', mode);
  }

  /** Fill a panel by a module that most rounds do not need. */
  async prepareWith(module, mode) {
    try {
      await (await import(module)).prepare(this.panelOf(mode), this.message);
    } catch {
      tell(this.message, 'This could not be loaded. Close the panel and open it again.', { alarm: true });
    }
  }

  /** Close the panel; the focus returns to the button that opened it. */
  close() {
    const opener = this.buttons.find((button) => button.getAttribute('aria-expanded') === 'true');
    const hasFocus = this.panels.contains(document.activeElement);
    this.show(null);
    if (hasFocus) opener?.focus();
  }

  show(shown) {
    tell(this.message, '');
    this.panels.hidden = !shown;
    for (const button of this.buttons) {
      const isShown = button.dataset.mode === shown;
      button.setAttribute('aria-expanded', isShown);
      const panel = this.panelOf(button.dataset.mode);
      if (panel) panel.hidden = !isShown;
    }
  }

  async begin(wish) {
    tell(this.message, '');
    try {
      if (await this.start(wish)) this.close();
    } catch (problem) {
      this.panels.hidden = false;
      tell(this.message, problem.message, { alarm: true });
    }
  }

  showContinents() {
    const { benchmark, continent } = this.free;
    const options = this.panels.querySelector(`template[data-benchmark="${CSS.escape(benchmark.value)}"]`);
    continent.replaceChildren(options.content.cloneNode(true));
  }

  /** The days that can be played, with results: asked for only while they are seen. */
  async showDays() {
    if (!this.playerOf()) return;
    const benchmark = encodeURIComponent(this.free.benchmark.value);
    try {
      this.listDays(await look(`dailies?fragments=1&benchmark=${benchmark}`, this.playerOf()));
    } catch (problem) {
      tell(this.message, problem.message, { alarm: true });
    }
  }

  listDays({ fragments: { days, streak } }) {
    const { day } = this.panelOf('days').elements;
    const chosen = day.value;
    day.replaceChildren(...days.map(([label, value]) => make('option', { value }, label)));
    if (days.some(([, value]) => value === chosen)) day.value = chosen;
    fill(this.panels.querySelector('#agl-streak'), streak);
  }
}

/** The round that a panel's fields wish for, as the play API takes it. */
const WISHES = {
  free: ({ benchmark, speech, continent, timer }) => ({
    mode: 'free', benchmark: benchmark.value, speech: speech.value, continent: continent.value,
    timer_s: Number(timer.value) || null }),
  days: ({ day }, { benchmark }) => ({ mode: 'daily', benchmark: benchmark.value, day: day.value }),
  challenge: ({ code }) => ({ mode: 'challenge', code: code.value }),
  model: ({ benchmark, opponent, timer }) => ({
    mode: 'model', benchmark: benchmark.value, opponent: opponent.value, timer_s: Number(timer.value) || null }),
};
