// Tools for listening closely, below the player: a part in a loop, slower, one band of frequencies,
// louder, the spectrogram. Their elements are in game/templates/tools.html. A new clip is heard as it
// was recorded; only the spectrogram stays open.
import { Loop } from './tools-loop.js';
import { Picture, UnreadableError, hzInWords } from './tools-picture.js';
import { Chain, HIGHEST_HZ, LOWEST_HZ, bandProblem } from './tools-sound.js';
import { noteUse } from './tools-door.js';

const NO_AUDIO = 'This browser lets the page neither filter nor draw sound; a loop and the speed work.';
const NO_FILTER = 'The sound cannot be filtered or made louder here. The clip plays as before.';

/** Bind the tools to the player; resolves once they can be used. */
export async function attach(element, player) {
  await styled();
  return new Tools(element, player);
}

/** The style sheet comes with the tools, before they are shown. */
function styled() {
  const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: new URL('../tools.css', import.meta.url).href });
  return new Promise((resolve) => {
    sheet.onload = sheet.onerror = resolve;
    document.head.append(sheet);
  });
}

class Tools {
  constructor(element, player) {
    const find = (name) => element.querySelector(`[data-part=${name}]`);
    const named = ['now', 'note', 'controls', 'loop', 'spectrogram', 'rate', 'boost', 'band', 'low', 'high', 'picture', 'reset'];
    Object.assign(this, { element, player, parts: Object.fromEntries(named.map((name) => [name, find(name)])) });
    this.loop = new Loop(player, () => this.show());
    this.picture = new Picture(this.parts.picture, player, this.loop);
    this.lookFor();
    this.listen();
    this.reset();
    this.parts.controls.hidden = false;
  }

  /** What the browser can do. */
  lookFor() {
    const canHear = 'AudioContext' in window && 'OfflineAudioContext' in window;
    for (const name of ['spectrogram', 'boost', 'band', 'low', 'high']) this.parts[name].disabled = !canHear;
    this.tell(canHear ? '' : NO_AUDIO);
  }

  listen() {
    const { loop, spectrogram, rate, boost, band, low, high, reset } = this.parts;
    loop.addEventListener('click', () => (this.loop.part ? this.loop.end() : this.loop.begin()));
    spectrogram.addEventListener('click', () => this.openPicture(this.parts.picture.hidden));
    rate.addEventListener('change', () => this.slow(Number(rate.value)));
    boost.addEventListener('change', () => this.filter(this.band, Number(boost.value)));
    band.addEventListener('change', () => this.chooseBand(band.value));
    for (const edge of [low, high]) edge.addEventListener('change', () => this.ownBand());
    reset.addEventListener('click', () => this.reset());
    this.element.querySelector('details').addEventListener('toggle', () => this.drawPicture());
    this.player.element.addEventListener('agl-clip-changed', () => { this.reset(); this.drawPicture(); });
    this.player.element.addEventListener('agl-clip-time', () => this.follow());
    for (const gesture of ['click', 'keydown']) document.addEventListener(gesture, () => this.wake());
    this.player.audio.addEventListener('playing', () => this.wake());
    this.player.audio.addEventListener('loadstart', () => this.slow(this.rate)); // which loading resets
  }

  /** Hear the clip as it was recorded. */
  reset() {
    this.loop.end();
    this.slow(1);
    this.parts.rate.value = '1';
    this.parts.boost.value = '0';
    this.parts.band.value = '';
    this.chooseBand('');
    this.filter(null, 0);
  }

  // ---- the tools

  slow(rate) {
    const { audio } = this.player;
    Object.assign(audio, { preservesPitch: true, defaultPlaybackRate: rate, playbackRate: rate });
    this.rate = rate;
    this.show();
  }

  chooseBand(value) {
    if (value === 'own') return this.parts.low.focus();
    const [low, high] = value ? value.split(' ').map(Number) : [LOWEST_HZ, HIGHEST_HZ];
    Object.assign(this.parts.low, { value: low });
    Object.assign(this.parts.high, { value: high });
    return this.tryBand(value ? { low, high } : null);
  }

  ownBand() {
    const [low, high] = [this.parts.low, this.parts.high].map(({ value }) => Number(value));
    this.parts.band.value = 'own';
    this.tryBand({ low, high });
  }

  /** Hear a band of frequencies; one that cannot be used changes nothing. */
  tryBand(band) {
    const problem = band ? bandProblem(band) : '';
    for (const edge of [this.parts.low, this.parts.high]) edge.setAttribute('aria-invalid', String(Boolean(problem)));
    if (this.parts.note.textContent !== NO_AUDIO) this.tell(problem);
    if (!problem) this.filter(band, this.boost_db ?? 0);
  }

  /** Filter and boost the sound, from the first time on through a context: a gesture made it. */
  filter(band, boost_db) {
    Object.assign(this, { band, boost_db });
    if (band || boost_db) this.openChain();
    this.chain?.set(band, boost_db);
    this.show();
  }

  openChain() {
    if (this.chain) return;
    try {
      this.context = new AudioContext();
      this.chain = new Chain(this.context);
      this.chain.hear(this.context.createMediaElementSource(this.player.audio)); // last: it cannot be undone
      this.wake();
    } catch (problem) {
      console.error(problem);
      Object.assign(this, { chain: null, band: null, boost_db: 0 });
      Object.assign(this.parts.band, { value: '' });
      Object.assign(this.parts.boost, { value: '0' });
      for (const name of ['boost', 'band', 'low', 'high']) this.parts[name].disabled = true;
      this.tell(NO_FILTER);
    }
  }

  /** Some browsers let a context play only within a gesture, and pause it after calls and alarms. */
  wake() {
    if (this.context && this.context.state !== 'running') this.context.resume().catch(() => {});
  }

  openPicture(isOpen) {
    this.parts.picture.hidden = !isOpen;
    this.parts.spectrogram.setAttribute('aria-pressed', String(isOpen));
    this.drawPicture();
  }

  get seesPicture() {
    return !this.parts.picture.hidden && this.element.querySelector('details').open;
  }

  async drawPicture() {
    if (!this.seesPicture) return;
    const { clip } = this.player;
    try {
      if (await this.picture.draw() && this.seesPicture) noteUse(clip.url, 'spectrogram');
    } catch (problem) {
      if (!(problem instanceof UnreadableError)) throw problem;
      this.openPicture(false);
      this.tell(problem.message);
    }
  }

  // ---- while the clip plays

  follow() {
    this.picture.showTime();
    if (this.player.audio.paused || !this.player.clip) return;
    this.loop.keepInside();
    for (const tool of this.inUse) noteUse(this.player.clip.url, tool);
  }

  /** The tools that change what is heard now. */
  get inUse() {
    const { loop, rate, band, boost_db } = this;
    return [loop.part && 'loop', rate < 1 && 'slow', band && 'band', boost_db > 0 && 'boost'].filter(Boolean);
  }

  // ---- what is shown

  show() {
    const { part } = this.loop ?? {};
    this.parts.loop.setAttribute('aria-pressed', String(Boolean(part)));
    this.picture?.showPart(part ?? null);
    this.parts.now.textContent = this.settings.join(' · ');
  }

  get settings() {
    const { rate = 1, band, boost_db, loop } = this;
    return [
      loop?.part && `loop ${loop.part.start.toFixed(1)}–${loop.part.end.toFixed(1)} s`,
      rate < 1 && `${rate} ×`,
      band && `${hzInWords(band.low)}–${hzInWords(band.high)}`,
      boost_db > 0 && `+${boost_db} dB`,
    ].filter(Boolean);
  }

  tell(sentence) {
    this.parts.note.textContent = sentence;
  }
}
