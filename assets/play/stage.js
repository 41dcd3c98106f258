// The play tab: its elements are in game/templates/stage.html. A round is shown as the play API
// describes it; what has not changed is left alone.
import { createMap } from '../worldmap.js';
import { Player } from '../player.js';
import { Chooser } from './chooser.js';
import { Clock } from './clock.js';
import { deliver } from './delivery.js';
import { fill, tell } from './dom.js';
import * as history from './history.js';
import { lazily } from './lazily.js';
import { Search } from './search.js';
import { Share } from './share.js';
import { isLasting, keep, recall } from './store.js';
import { openTools, usedOn } from './tools-door.js';
import { act } from './api.js';

const NO_PIN = 'There is no pin yet. Click or tap the map, or press Enter in it to drop the pin at the crosshair; then submit.';
const NO_MAP = 'The map is still being drawn. Wait a moment, or reload the page if it does not appear.';
const NO_SOUND = 'The clip could not be loaded. Try again, skip it, or report it as broken.';

//: Nothing waits longer for the sound of the first clip.
const SOUND_MS = 10_000;

const ROOMS = './rooms.js';
const AFTERWARDS = './afterwards.js';
const OWN_DATA = './own_data.js';
//: As in game.css.
const ONE_COLUMN = '(max-width: 860px) and (not ((orientation: landscape) and (max-height: 560px) and (min-width: 560px)))';

let stage = null;

/** Bind the stage to its elements, which are in the first view (ui/early.py), and open the player's
 *  round, unless that is done. */
export function begin() {
  if (stage) return stage;
  const view = document.getElementById('agl-early');
  stage = new Stage(view.querySelector('#agl-play'), JSON.parse(view.dataset.options));
  stage.open();
  return stage;
}

/** Have the stage go on in `element`, a component of Gradio's, instead of the first view: the sound
 *  plays on, and the focus stays where it is. */
export function attach(element) {
  const { activeElement } = document;
  const { element: moved, settle } = begin();
  if (element.moveBefore && element.isConnected) element.moveBefore(moved, null);
  else element.append(moved);
  document.getElementById('agl-early')?.remove();
  const { tabId } = activeElement?.dataset ?? {};
  if (moved.contains(activeElement)) activeElement.focus({ preventScroll: true });
  else if (tabId) document.querySelector(`#agl-tabs [role=tab][data-tab-id="${tabId}"]`)?.focus();
  settle();
}

/** The token of the player in this browser, or "". */
export const playerOfBrowser = () => recall('player', '');

class Stage {
  constructor(element, options) {
    const find = (name) => element.querySelector(`#agl-${name}`);
    const named = ['status', 'sound', 'map', 'message', 'result', 'submit', 'skip', 'broken', 'next', 'again', 'retry'];
    Object.assign(this, { element, find, round: null, turn: 0, player: playerOfBrowser() });
    this.parts = Object.fromEntries(named.map((name) => [name, find(name)]));
    this.parts.retry.remove();
    this.sound = new Player(this.parts.sound);
    this.sound.load(null);
    this.heard = new Promise((done) => {
      for (const event of ['canplay', 'error']) this.sound.audio.addEventListener(event, done);
      setTimeout(done, SOUND_MS);
    });
    this.settled = new Promise((done) => { this.settle = done; });
    openTools(find('tools'), this.sound);
    this.share = new Share(find('share'));
    this.clock = new Clock(find('clock'), () => this.answer('timeup'));
    this.chooser = new Chooser(find('modes'), find('panels'), () => this.player, (wish) => this.start(wish));
    this.drawMap(options.map);
    this.listen();
    history.list(find('history-list'));
    find('history').addEventListener('toggle', () => this.showOwnData());
    find('forgetful').hidden = isLasting;
  }

  drawMap(options) {
    const { map } = this.parts;
    this.world = createMap(map, { ...options, later: { names: this.heard, outlines: this.settled } }, () => {});
    this.mapped = this.world.then((world) => world.base.ready.then(() => { this.drawn = world; }));
    this.mapped.catch(() => {}); // no guess on an empty map
    this.world.then((world) => {
      this.search = new Search(this.find('search'), (...place) => world.goTo(...place));
    }, (error) => {
      console.error(error);
      map.querySelector('.agl-map-status').textContent = 'The map could not be loaded. Reload the page to try again.';
    });
  }

  listen() {
    const { submit, skip, broken, next, again } = this.parts;
    submit.addEventListener('click', () => this.submit());
    skip.addEventListener('click', () => this.answer('skip'));
    broken.addEventListener('click', () => this.answer('broken'));
    next.addEventListener('click', () => this.perform('next', () => ({ ...this.tokens, href: location.href })));
    again.addEventListener('click', () => this.perform('again', () => this.tokens));
  }

  // ---- actions

  get tokens() {
    return { player: this.player, round: this.round.round };
  }

  async open() {
    this.element.dataset.begun = ''; // for loading.js
    await this.perform('open', () => ({ player: this.player, href: location.href }));
    if (this.round) this.followLink();
  }

  /** The link is done with, unless it leads to a room for which a name is needed. */
  followLink() {
    const code = new URL(location.href).searchParams.get('room');
    if (code && this.round.mode !== 'room') this.chooser.invite(code);
    else forgetLink();
  }

  submit() {
    if (!this.drawn) return this.alarm(NO_MAP);
    if (!this.drawn.value) return this.alarm(NO_PIN);
    if (this.sound.failed) return this.alarm(NO_SOUND);
    return this.answer('guess');
  }

  answer(action) {
    return this.perform(action, () => {
      const withPin = ['guess', 'timeup'].includes(action) && this.drawn?.value;
      const tools = usedOn(this.sound.clip?.url);
      return { ...this.tokens, nickname: this.chooser.nickname, tools, ...(withPin ? JSON.parse(this.drawn.value) : {}) };
    });
  }

  /** Begin another round; resolves to whether there is one, and throws the chooser's problems. */
  async start(wish) {
    if (this.isBusy) return false;
    this.giveUp?.();
    return this.busy(async () => {
      this.show(await act('start', { player: this.player, ...wish }));
      forgetLink();
      return true;
    });
  }

  /** Do something that the server has to answer. One thing at a time: others are ignored. */
  async perform(action, contentOf) {
    if (this.isBusy || (action !== 'open' && !this.round)) return;
    this.giveUp?.();
    await this.busy(async () => {
      try {
        const round = await deliver(action, contentOf, (...why) => this.pause(...why));
        if (round) this.show(round);
      } catch (problem) {
        this.alarm(problem.message);
      }
    });
  }

  /** Look busy while `work` is under way. */
  async busy(work) {
    const turn = this.turn += 1;
    this.setBusy(true);
    try {
      return await work();
    } finally {
      if (turn === this.turn) {
        this.setBusy(false);
        this.follow();
      }
    }
  }

  setBusy(isBusy) {
    this.isBusy = isBusy;
    if (isBusy) this.element.setAttribute('aria-busy', 'true');
    else this.element.removeAttribute('aria-busy');
  }

  /** Say why an action has to wait; resolves to whether to send it again, after `pause_s` at most. */
  pause(sentence, pause_s) {
    const { message, retry } = this.parts;
    tell(message, sentence, { alarm: true, action: retry });
    this.setBusy(false);
    this.follow();
    return new Promise((resolve) => {
      const ended = new AbortController();
      const end = (isRepeated) => {
        ended.abort();
        this.giveUp = null;
        if (isRepeated) this.setBusy(true);
        resolve(isRepeated);
      };
      this.giveUp = () => end(false);
      const waiting = pause_s === null ? null : setTimeout(end, 1000 * pause_s, true);
      ended.signal.addEventListener('abort', () => clearTimeout(waiting));
      retry.addEventListener('click', () => end(true), { signal: ended.signal });
      addEventListener('online', () => end(true), { signal: ended.signal });
    });
  }

  alarm(sentence) {
    tell(this.parts.message, sentence, { alarm: true });
    this.follow();
  }

  // ---- what is shown

  show(round) {
    const { status, result, message } = this.parts;
    const opens = !this.round; // the page's first
    this.round = round;
    this.player = round.player;
    keep('player', round.player);
    fill(status, round.fragments.status);
    fill(result, round.fragments.result);
    tell(message, round.notes.join('\n'));
    this.showSound(round);
    if (round.map) this.world.then((world) => world.obey({ ...round.map, opens }), () => {});
    this.showButtons(round);
    this.clock.run(round.phase === 'playing' ? round.remaining_s : null);
    this.share.offer(round.share ?? '');
    if (round.history_entry) history.remember(round.history_entry);
    history.list(this.find('history-list'));
    this.chooser.daily.follow(round);
    this.showRoom();
    this.showAfterwards(round);
    this.showOwnData();
  }

  /** What others did, and clips to hear again, after a round. */
  async showAfterwards({ phase }) {
    if (phase !== 'finished' && !this.afterwards) return;
    this.afterwards ??= lazily(AFTERWARDS).then(({ Afterwards }) => new Afterwards(this));
    try {
      (await this.afterwards).follow();
    } catch {
      this.afterwards = null; // the module could not be loaded: tried again after the next round
    }
  }

  /** "Your rounds" from the server, while they are open. */
  async showOwnData() {
    if (!this.find('history').open) return;
    this.ownData ??= lazily(OWN_DATA).then(({ OwnData }) => new OwnData(this.find('own'), this.find('history-list'), this));
    try {
      (await this.ownData).refresh();
    } catch {
      this.ownData = null; // the list that this browser keeps is still there
    }
  }

  /** Show the round that `ask` gets; throws why that is not possible. */
  async display(ask) {
    if (this.isBusy) throw new Error('The game is waiting for an answer. Try again in a moment.');
    this.giveUp?.();
    await this.busy(async () => this.show(await ask()));
  }

  /** Play as another player from now on, also if its round cannot be opened now. */
  async become(player) {
    this.player = player;
    keep('player', player);
    await this.display(() => act('open', { player, href: location.href }));
  }

  /** How everybody stands, in a room. */
  async showRoom() {
    if (!this.round.room && !this.standings) return;
    this.standings ??= lazily(ROOMS).then(({ Standings }) => new Standings(this.find('versus'), {
      playerOf: () => this.player,
      join: (code) => this.start({ mode: 'room', code }).catch(({ message }) => this.alarm(message)),
      begin: () => this.perform('rematch', () => this.tokens),
    }));
    try {
      (await this.standings).follow(this.round);
    } catch {
      this.standings = null; // the module could not be loaded: tried again after the next answer
    }
  }

  showSound({ clip, phase }) {
    if (clip && clip.url !== this.sound.clip?.url) this.sound.load(clip, phase === 'playing');
    if (phase === 'finished') this.sound.audio.pause();
    this.settled.then(() => this.sound.fetchAhead(this.round.next_clip_url ?? '')); // the page comes first
  }

  showButtons({ phase, mode, position, n_clips: n }) {
    const { submit, skip, broken, next, again } = this.parts;
    for (const button of [submit, skip, broken]) button.hidden = phase !== 'playing';
    for (const button of [skip, broken]) button.disabled = false;
    next.hidden = phase !== 'revealed';
    next.textContent = position >= n - 1 ? 'See the result' : 'Next clip';
    again.hidden = phase !== 'finished';
    again.textContent = ['free', 'model'].includes(mode) ? 'Play again' : 'Play a free round';
  }

  /** The button that was pressed may be hidden now: the focus moves to the next one, and on a small
   *  screen the result scrolls into view. */
  follow() {
    const shown = (css) => [...this.element.querySelectorAll(css)].find(({ offsetParent }) => offsetParent);
    const alarm = shown('#agl-message [role=alert], #agl-chooser-message [role=alert]');
    if (alarm) return alarm.scrollIntoView({ block: 'nearest' });
    if (!this.hasActed) return this.hasActed = true; // the page was opened: it stays where it is
    const isLost = !document.activeElement?.offsetParent; // of the body, too
    const target = shown('#agl-next, #agl-again') ?? shown('#agl-sound .agl-play');
    if (isLost) target?.focus({ preventScroll: true });
    const result = shown('.agl-reveal, .agl-summary') ?? shown('#agl-sound');
    result?.scrollIntoView({ block: matchMedia(ONE_COLUMN).matches ? 'center' : 'nearest' });
  }
}

/** A link is used once; a reload then continues the latest round. */
function forgetLink() {
  const address = new URL(location.href);
  for (const name of ['challenge', 'daily', 'room']) address.searchParams.delete(name);
  if (address.href !== location.href) window.history.replaceState(window.history.state, '', address);
}
