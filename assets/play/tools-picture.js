// The spectrogram under the waveform: the picture, its axes, and its words for those who don't see it.
import { make } from './dom.js';
import { placePart } from './tools-loop.js';
import { DECIBELS, ROWS, loudestRow, spectrogram } from './tools-spectrum.js';

//: Seventeen even steps of cividis, which colour-blind readers see as others do (Nuñez et al. 2018).
const CIVIDIS = [
  [0, 34, 78], [0, 46, 106], [26, 56, 111], [50, 67, 109], [67, 78, 108], [83, 90, 109], [97, 101, 111], [111, 112, 115], [125, 124, 120],
  [140, 136, 120], [155, 148, 118], [171, 160, 114], [188, 174, 108], [205, 187, 99], [222, 201, 88], [240, 216, 70], [254, 232, 56],
];
const TICKS_HZ = [100, 500, 1000, 2000, 4000, 8000, 16000];
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
const MOST_STEPS = 6;
//: Decoded to this many samples a second; playing is not affected.
const RATE_HZ = 44100;
const UNREADABLE = 'The spectrogram of this clip cannot be drawn: the browser could not read the sound. The clip plays as before.';

/** A sound that could not be decoded; the message is for the player. */
export class UnreadableError extends Error {}

export class Picture {
  constructor(element, player, loop) {
    const find = (css) => element.querySelector(css);
    Object.assign(this, { element, player, drawnUrl: null, found: null });
    Object.assign(this, {
      image: find('.agl-picture-image'), canvas: find('canvas'), part: find('.agl-loop-part'),
      hz: find('.agl-picture-hz'), s: find('.agl-picture-s'), words: find('#agl-picture-words'),
    });
    find('.agl-picture-colours').style.background = `linear-gradient(to right, ${CIVIDIS.map((rgb) => `rgb(${rgb})`)})`;
    loop.drawOn(this.image);
    this.image.addEventListener('keydown', (event) => player.onKey(event));
  }

  /** Draw the player's clip, unless it is drawn; resolves to whether it is. Throws UnreadableError. */
  async draw() {
    const url = this.player.clip?.url;
    if (!url || this.drawnUrl === url) return this.found !== null;
    this.clear();
    this.drawnUrl = url;
    const isOver = () => this.drawnUrl !== url;
    this.words.textContent = 'The spectrogram is being drawn…';
    try {
      const sound = await decoded(this.player.audio.src);
      const channels = Array.from({ length: sound.numberOfChannels }, (_, n) => sound.getChannelData(n));
      const found = isOver() ? null : await spectrogram(channels, sound.sampleRate, isOver);
      if (found && !isOver()) this.show(found, sound.duration);
      return found !== null && !isOver();
    } catch (problem) {
      if (isOver()) return false;
      console.error(problem);
      this.clear();
      throw new UnreadableError(UNREADABLE);
    }
  }

  clear() {
    Object.assign(this, { drawnUrl: null, found: null });
    Object.assign(this.canvas, { width: 1, height: 1 });
    for (const part of [this.hz, this.s, this.words]) part.replaceChildren();
  }

  show(found, duration_s) {
    this.found = { ...found, duration_s };
    paint(this.canvas, found);
    const ticks_hz = TICKS_HZ.filter((hz) => hz <= found.scale.top_hz);
    this.hz.replaceChildren(...ticks_hz.map((hz) => tick(hzInWords(hz), 'bottom', found.scale.shareOf(hz))));
    const step = STEPS_S.find((seconds) => duration_s / seconds <= MOST_STEPS) ?? STEPS_S.at(-1);
    const times = Array.from({ length: Math.floor(duration_s / step) + 1 }, (_, n) => n * step);
    this.s.replaceChildren(...times.map((s) => tick(`${s} s`, 'left', s / duration_s)));
    this.words.textContent = summaryOf(this.found);
    this.image.setAttribute('aria-valuemax', duration_s.toFixed(1));
    this.showTime();
  }

  /** Where the clip is now, and what is loudest there. */
  showTime() {
    if (!this.found) return;
    const { duration_s, columns, scale } = this.found;
    const now = Math.min(this.player.audio.currentTime, duration_s);
    this.image.style.setProperty('--done', now / duration_s);
    const column = Math.min(columns - 1, Math.floor((now / duration_s) * columns));
    const hz = scale.hzAt((loudestRow(this.found, column) + 0.5) / ROWS);
    this.image.setAttribute('aria-valuenow', now.toFixed(1));
    this.image.setAttribute('aria-valuetext', `${Math.floor(now)} of ${Math.round(duration_s)} seconds, loudest near ${hzInWords(hz)}`);
  }

  showPart(part) {
    placePart(this.part, part, this.player.duration());
  }
}

/** The sound at `url`, decoded. No context that plays is needed, so no gesture is, either. */
async function decoded(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${answer.status} for ${url}`);
  return new OfflineAudioContext(1, 1, RATE_HZ).decodeAudioData(await answer.arrayBuffer());
}

function paint(canvas, { columns, decibels }) {
  Object.assign(canvas, { width: columns, height: ROWS });
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, ROWS);
  for (let column = 0; column < columns; column += 1) {
    for (let row = 0; row < ROWS; row += 1) {
      const rgb = colourOf(1 + decibels[column * ROWS + row] / DECIBELS);
      image.data.set([...rgb, 255], 4 * ((ROWS - 1 - row) * columns + column));
    }
  }
  context.putImageData(image, 0, 0);
}

const COLOURS = Array.from({ length: 257 }, (_, n) => {
  const at = (n / 256) * (CIVIDIS.length - 1);
  const [low, high] = [CIVIDIS[Math.floor(at)], CIVIDIS[Math.ceil(at)]];
  return low.map((value, i) => Math.round(value + (high[i] - value) * (at % 1)));
});

/** The colour of a level from 0 to 1. */
const colourOf = (level) => COLOURS[Math.round(256 * level)];

function tick(text, side, share) {
  const node = make('span', {}, text);
  node.style[side] = `${100 * share}%`;
  return node;
}

/** A frequency in words: 500 Hz, 2.3 kHz. */
export function hzInWords(hz) {
  return hz < 995 ? `${Number(hz.toPrecision(2))} Hz` : `${Number((hz / 1000).toPrecision(2))} kHz`;
}

/** Where most of the sound is, and its loudest point. */
function summaryOf({ columns, decibels, scale, duration_s }) {
  const rows = new Float64Array(ROWS);
  let loudest = 0;
  decibels.forEach((level, i) => {
    rows[i % ROWS] += 10 ** (level / 10) * (scale.hzAt((i % ROWS + 1) / ROWS) - scale.hzAt((i % ROWS) / ROWS));
    if (level > decibels[loudest]) loudest = i;
  });
  if (decibels[loudest] === -DECIBELS) return 'The clip is silent.';
  const [low, high] = [0.05, 0.95].map((share) => scale.hzAt(shareBelow(rows, share)));
  const [s, hz] = [(Math.floor(loudest / ROWS) / columns) * duration_s, scale.hzAt((loudest % ROWS + 0.5) / ROWS)];
  return `Nine tenths of the sound lie between ${hzInWords(low)} and ${hzInWords(high)}; the loudest is near ${hzInWords(hz)}, ${Math.round(s)} s in.`;
}

/** How far up, from 0 to 1, this share of the sound is below. */
function shareBelow(rows, share) {
  const wanted = share * rows.reduce((a, b) => a + b);
  let sum = 0;
  const row = rows.findIndex((power) => { sum += power; return sum >= wanted; });
  return (row + 0.5) / ROWS;
}
