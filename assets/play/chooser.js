// The ways to play: buttons, and the panel in which a round is chosen.
import { look } from './api.js';
import { DailyButton, dayOf } from './daily.js';
import { fill, make, tell } from './dom.js';
import { lazily } from './lazily.js';
import { keep, recall } from './store.js';

const LONGEST_NICKNAME = 24;

export class Chooser {
  /** `playerOf` returns the player's token; `start` begins the round that is chosen. */
  constructor(modes, panels, playerOf, start) {
    Object.assign(this, { panels, playerOf, start });
    this.buttons = [...modes.querySelectorAll('[data-mode]')];
    this.message = panels.querySelector('#agl-chooser-message');
    this.name = panels.querySelector('#agl-nickname input');
    this.name.value = recall('nickname', '');
    this.name.addEventListener('change', () => {
      this.name.value = this.nickname;
      keep('nickname', this.nickname);
    });
    this.prepareDaily(modes.querySelector('#agl-daily'));
    for (const button of this.buttons) this.prepare(button);
    for (const part of [modes, panels]) part.addEventListener('keydown', ({ key }) => key === 'Escape' && this.close());
    this.free.benchmark.addEventListener('change', () => this.showContinents());
    this.showContinents();
  }

  prepareDaily(button) {
    this.daily = new DailyButton(button, (month) => this.dailies(month));
    button.addEventListener('click', () => this.begin({ mode: 'daily', benchmark: this.days.benchmark.value }));
    this.days.benchmark.addEventListener('change', () => {
      this.daily.refresh();
      this.showDays(this.calendar?.month);
    });
  }

  /** A button without a panel stays hidden. */
  prepare(button) {
    const { mode } = button.dataset;
    const panel = this.panelOf(mode);
    button.hidden = !panel;
    button.addEventListener('click', () => (panel.hidden ? this.open(mode) : this.close()));
    panel?.addEventListener('submit', (event) => {
      event.preventDefault();
      if (mode in WISHES) this.begin(WISHES[mode](panel.elements));
    });
  }

  panelOf(mode) {
    return this.panels.querySelector(`#agl-panel-${mode}`);
  }

  get free() {
    return this.panelOf('free').elements;
  }

  get days() {
    return this.panelOf('days').elements;
  }

  get nickname() {
    return beginning(this.name.value.trim(), LONGEST_NICKNAME);
  }

  open(mode) {
    this.show(mode);
    const fields = [...this.panelOf(mode).querySelectorAll('input, select, button')];
    fields.find((field) => field.offsetParent)?.focus(); // not a hidden choice of one benchmark
    this.panels.scrollIntoView({ block: 'nearest' });
    this.fill(mode);
  }

  /** What a panel shows from the server. */
  fill(mode) {
    tell(this.message, '');
    if (mode === 'days') this.showDays();
    if (mode in MODULES) this.prepareWith(MODULES[mode], mode);
  }

  /** Say why a panel could not be filled, with a button to try again. */
  failed({ message }, mode) {
    const again = make('button', { type: 'button', className: 'agl-button', onclick: () => this.fill(mode) }, 'Try again');
    tell(this.message, message, { alarm: true, action: again });
  }

  /** Fill a panel by a module that most rounds do not need. */
  async prepareWith(module, mode) {
    try {
      await (await lazily(module)).prepare(this.panelOf(mode), (problem) => this.failed(problem, mode));
    } catch (problem) {
      this.failed(problem, mode);
    }
  }

  /** Ask for a name to join the room with this code. */
  invite(code) {
    const fields = this.panelOf('room').elements;
    fields.code.value = code;
    this.open('room');
    fields.called.focus();
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

  /** The player's dailies of a month like "2026-11". */
  dailies(month) {
    const wanted = new URLSearchParams({ fragments: 1, month, benchmark: this.days.benchmark.value });
    return look(`dailies?${wanted}`, this.playerOf());
  }

  /** The calendar: its script is loaded, and its days asked for, only once they are seen. */
  async showDays(month = dayOf(Date.now()).slice(0, 7)) {
    if (!this.playerOf() || this.panelOf('days').hidden) return;
    try {
      const { Calendar } = await lazily('./calendar.js');
      this.calendar ??= new Calendar(this.panels.querySelector('#agl-calendar'), (asked) => this.ask(asked),
        (day) => this.begin({ mode: 'daily', benchmark: this.days.benchmark.value, day }));
      await this.calendar.show(month);
    } catch (problem) {
      this.failed(problem, 'days');
    }
  }

  async ask(month) {
    const days = await this.dailies(month);
    fill(this.panels.querySelector('#agl-streak'), days.fragments.streak);
    return days;
  }
}

/** Modules of panels that most rounds do not need. */
const MODULES = { model: './versus.js', room: './rooms.js' };

/** The round that a panel's fields wish for, as the play API takes it. */
const WISHES = {
  free: ({ benchmark, speech, continent, timer }) => ({
    mode: 'free', benchmark: benchmark.value, speech: speech.value, continent: continent.value,
    timer_s: Number(timer.value) || null }),
  challenge: ({ code }) => ({ mode: 'challenge', code: code.value }),
  room: ({ code, benchmark, timer, called }) => ({
    mode: 'room', code: code.value, nickname: called.value, benchmark: benchmark.value,
    timer_s: Number(timer.value) || null }),
  model: ({ benchmark, opponent, timer }) => ({
    mode: 'model', benchmark: benchmark.value, opponent: opponent.value, timer_s: Number(timer.value) || null }),
};

/** The first characters of a text, as readers count them: a family of joined emoji is one. */
function beginning(text, length) {
  const characters = [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment);
  return characters.slice(0, length).join('').trim();
}
