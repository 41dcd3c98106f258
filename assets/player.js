// The clip player; its HTML is in ui/player.py.

const STEP_S = 2;
const LEAP_S = 10;
const PATIENCE_MS = 8000;
const MEMORY = 'agl1k-volume';
const PRESS = 'Press play to hear the clip.';

/** Bind a Gradio component, which passes clips as JSON in its props; returns the Player. */
export function attach({ element, props, watch }) {
  const player = new Player(element);
  const load = (andPlay) => player.load(props.value ? JSON.parse(props.value) : null, andPlay);
  watch('value', () => load(true));
  watch('next_url', () => setTimeout(() => player.fetchAhead(props.next_url))); // after a new value, if both change
  load(false);
  player.fetchAhead(props.next_url);
  return player;
}

/** Plays one clip at a time; `element` holds the HTML of ui/player.py. */
export class Player {
  constructor(element) {
    Object.assign(this, { element, clip: null, failed: false, nextUrl: '' });
    const find = (name) => element.querySelector(name);
    Object.assign(this, {
      root: find('.agl-player'), audio: find('audio'), playButton: find('.agl-play'),
      wave: find('.agl-wave'), time: find('.agl-time'), mute: find('.agl-mute'),
      volume: find('.agl-volume'), note: find('.agl-note'), retry: find('.agl-retry'),
    });
    this.recallVolume();
    this.listenToButtons();
    this.listenToWave();
    this.listenToAudio();
    new ResizeObserver(() => this.drawWave()).observe(this.wave);
  }

  // ---- the clip

  /** `clip`: { url, peaks, duration_s, label }, as ui.player.clip_value has it, or null. */
  load(clip, andPlay) {
    this.clip = clip;
    this.failed = false;
    this.root.setAttribute('aria-label', this.clip?.label || 'Clip player');
    this.drawWave();
    this.tell('agl-clip-changed');
    if (!this.clip) {
      this.audio.removeAttribute('src');
      this.audio.load();
      this.show('empty', 'The clip is being fetched…');
      return;
    }
    this.audio.src = new URL(this.clip.url, document.baseURI).href;
    this.showTime();
    this.show('loading');
    if (andPlay) this.play();
    else this.show('ready', PRESS);
  }

  play() {
    if (!this.clip) return;
    if (this.audio.readyState < HTMLMediaElement.HAVE_FUTURE_DATA) this.show('loading');
    this.audio.play().catch((error) => {
      if (error.name === 'NotAllowedError') this.show('ready', PRESS);
    });
  }

  toggle() {
    if (this.failed) this.tryAgain();
    else if (this.audio.paused) this.play();
    else this.audio.pause();
  }

  tryAgain() {
    const { currentTime } = this.audio;
    this.failed = false;
    this.audio.load();
    this.audio.currentTime = currentTime;
    this.play();
    this.playButton.focus();
  }

  seek(seconds) {
    if (!this.clip || this.failed) return;
    this.audio.currentTime = Math.max(0, Math.min(this.duration(), seconds));
    this.showTime();
  }

  duration() {
    return Number.isFinite(this.audio.duration) ? this.audio.duration : this.clip?.duration_s ?? 0;
  }

  /** Fetch the clip at `url`, if there is one, into the cache once this one is loaded. */
  fetchAhead(url) {
    this.nextUrl = url;
    this.fetchNext();
  }

  fetchNext() {
    const url = this.nextUrl;
    if (!url || url === this.fetched || this.audio.readyState < HTMLMediaElement.HAVE_ENOUGH_DATA) return;
    this.fetched = url;
    fetch(new URL(url, document.baseURI), { priority: 'low' })
      .then((response) => response.arrayBuffer())
      .catch(() => { this.fetched = null; }); // it is then loaded when it is played
  }

  // ---- what is shown

  show(state, sentence = '') {
    this.root.dataset.state = state;
    this.note.textContent = sentence;
    this.playButton.setAttribute('aria-label', state === 'playing' ? 'Pause' : 'Play');
    this.playButton.disabled = state === 'empty';
    this.retry.hidden = state !== 'failed';
    clearTimeout(this.patience);
    if (state !== 'loading' && state !== 'ready') return;
    this.patience = setTimeout(() => {
      if (state === 'ready' && !this.isComing) return;
      this.note.textContent = 'Still loading the clip…';
      this.retry.hidden = false;
    }, PATIENCE_MS);
  }

  /** Whether the browser fetches the clip and has nothing of it yet: some fetch none before play is pressed. */
  get isComing() {
    const { readyState, networkState } = this.audio;
    return readyState < HTMLMediaElement.HAVE_CURRENT_DATA && networkState === HTMLMediaElement.NETWORK_LOADING;
  }

  /** A clip that was late is here, but the browser may not begin by itself. */
  arrive() {
    if (this.root.dataset.state === 'ready' && !this.retry.hidden) this.show('ready', PRESS);
  }

  fail() {
    if (!this.clip) return;
    this.failed = true;
    const isLoaded = this.audio.error?.code === MediaError.MEDIA_ERR_DECODE; // e.g. no sound card
    this.show('failed', isLoaded
      ? 'The browser cannot play this clip. Check the sound output of this device, then try again.'
      : 'The clip could not be loaded. Check the connection, then try again.');
    this.tell('agl-clip-failed');
  }

  tell(event) {
    this.element.dispatchEvent(new CustomEvent(event, { bubbles: true }));
  }

  showTime() {
    const [now, all] = [this.audio.currentTime, this.duration()];
    this.time.textContent = `${clock(now)} / ${clock(all)}`;
    this.wave.setAttribute('aria-valuemax', all.toFixed(1));
    this.wave.setAttribute('aria-valuenow', now.toFixed(1));
    this.wave.setAttribute('aria-valuetext', `${Math.floor(now)} of ${Math.round(all)} seconds`);
    this.wave.style.setProperty('--done', all ? Math.min(1, now / all) : 0);
    this.tell('agl-clip-time');
  }

  /** Draw as many bars as fit, each as high as the loudest peak in its part. */
  drawWave() {
    const { width, height } = this.wave.getBoundingClientRect();
    if (!width) return;
    const peaks = this.clip?.peaks?.length ? this.clip.peaks : [0];
    const count = Math.max(1, Math.min(peaks.length, Math.floor(width / 4)));
    let path = '';
    for (let bar = 0; bar < count; bar++) {
      const part = peaks.slice(Math.floor((bar * peaks.length) / count), Math.floor(((bar + 1) * peaks.length) / count));
      const half = Math.max(1, (Math.max(...part) * (height - 10)) / 2);
      path += `M${((bar + 0.5) * width) / count} ${height / 2 - half}v${2 * half}`;
    }
    if (!this.clip?.peaks?.length) path = `M0 ${height / 2}H${width}`;
    this.wave.querySelector('svg').setAttribute('viewBox', `0 0 ${width} ${height}`);
    for (const drawn of this.wave.querySelectorAll('path')) drawn.setAttribute('d', path);
  }

  // ---- events

  listenToButtons() {
    this.playButton.addEventListener('click', () => this.toggle());
    this.retry.addEventListener('click', () => this.tryAgain());
    this.root.querySelector('.agl-replay').addEventListener('click', () => {
      this.seek(0);
      this.play();
    });
    this.mute.addEventListener('click', () => { this.audio.muted = !this.audio.muted; });
    this.volume.addEventListener('input', () => {
      this.audio.volume = Number(this.volume.value);
      this.audio.muted = false;
    });
  }

  listenToWave() {
    const { wave } = this;
    const seekTo = ({ clientX }) => {
      const { left, width } = wave.getBoundingClientRect();
      this.seek(((clientX - left) / width) * this.duration());
    };
    wave.addEventListener('pointerdown', (event) => {
      wave.setPointerCapture(event.pointerId);
      seekTo(event);
    });
    wave.addEventListener('pointermove', (event) => {
      if (wave.hasPointerCapture(event.pointerId)) seekTo(event);
    });
    wave.addEventListener('keydown', (event) => this.onKey(event));
  }

  onKey(event) {
    const now = this.audio.currentTime;
    const actions = {
      ' ': () => this.toggle(),
      ArrowRight: () => this.seek(now + STEP_S), ArrowUp: () => this.seek(now + STEP_S),
      ArrowLeft: () => this.seek(now - STEP_S), ArrowDown: () => this.seek(now - STEP_S),
      PageUp: () => this.seek(now + LEAP_S), PageDown: () => this.seek(now - LEAP_S),
      Home: () => this.seek(0), End: () => this.seek(this.duration()),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  listenToAudio() {
    const { audio } = this;
    const reactions = {
      playing: () => { this.show('playing'); this.tell('agl-clip-playing'); this.follow(); },
      pause: () => { if (!this.failed && this.clip) this.show('ready'); },
      waiting: () => this.show('loading'),
      ended: () => this.show('ready'),
      error: () => this.fail(),
      loadeddata: () => this.arrive(),
      timeupdate: () => this.showTime(),
      durationchange: () => this.showTime(),
      canplaythrough: () => this.fetchNext(),
      volumechange: () => this.showVolume(),
    };
    for (const [name, reaction] of Object.entries(reactions)) audio.addEventListener(name, reaction);
  }

  /** Update the played part with every frame, instead of four times a second. */
  follow() {
    cancelAnimationFrame(this.frame); // of an earlier `playing`, which comes after each seek
    if (this.audio.paused) return;
    this.showTime();
    this.frame = requestAnimationFrame(() => this.follow());
  }

  // ---- volume, kept for the next visit

  recallVolume() {
    try {
      const { volume = 1, muted = false } = JSON.parse(localStorage.getItem(MEMORY)) ?? {};
      Object.assign(this.audio, { volume, muted });
    } catch { /* nothing is stored, or storage is blocked */ }
    this.showVolume();
  }

  showVolume() {
    const { volume, muted } = this.audio;
    this.volume.value = muted ? 0 : volume;
    this.volume.style.setProperty('--done', muted ? 0 : volume);
    this.mute.setAttribute('aria-pressed', String(muted));
    try {
      localStorage.setItem(MEMORY, JSON.stringify({ volume, muted }));
    } catch { /* storage is blocked: the volume is kept until the page is closed */ }
  }
}

function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
