// The frequencies in a sound over time, computed bit by bit so that the page stays responsive.

export const ROWS = 128;
export const DECIBELS = 80;
const MOST_COLUMNS = 900;
const LEAST_HOP = 128;
const TOP_HZ = 16000;
const BUSY_MS = 8;

const melOf = (hz) => 2595 * Math.log10(1 + hz / 700);
const hzOfMel = (mel) => 700 * (10 ** (mel / 2595) - 1);

/** A scale of frequencies as people hear them (mel, O'Shaughnessy 1987), up to `top_hz`. */
export class Scale {
  constructor(top_hz) {
    this.top_hz = top_hz;
  }

  /** How far up a frequency is, from 0 to 1. */
  shareOf(hz) {
    return melOf(hz) / melOf(this.top_hz);
  }

  hzAt(share) {
    return hzOfMel(share * melOf(this.top_hz));
  }
}

/**
 * The spectrogram of a sound: { columns, decibels, scale }, or null once `isOver()`.
 *
 * `channels` are arrays of samples. `decibels` has ROWS numbers for each column, low frequencies first,
 * from -DECIBELS to 0, the loudest point; of silence all are -DECIBELS.
 */
export async function spectrogram(channels, rate_hz, isOver = () => false) {
  const n = channels[0].length;
  const hop = Math.max(LEAST_HOP, Math.ceil(n / MOST_COLUMNS));
  const columns = Math.max(1, Math.ceil(n / hop));
  const fft = new Spectrum(hop <= 512 ? 1024 : 2048);
  const scale = new Scale(Math.min(TOP_HZ, rate_hz / 2));
  const weights = rowWeights(scale, rate_hz, fft.size);
  const looks = Math.max(1, Math.ceil(hop / (fft.size / 2))); // so that no sound falls between two columns
  const power = new Float32Array(columns * ROWS);
  let begun = performance.now();
  for (let column = 0; column < columns; column += 1) {
    for (let look = 0; look < looks; look += 1) {
      const middle = Math.round((column + (look + 0.5) / looks) * hop);
      addRows(power, column * ROWS, fft.of(channels, middle - fft.size / 2), weights, looks);
    }
    if (performance.now() - begun > BUSY_MS) {
      await new Promise((resolve) => { setTimeout(resolve); });
      if (isOver()) return null;
      begun = performance.now();
    }
  }
  return { columns, decibels: decibelsOf(power), scale };
}

/** Power spectra of `size` samples, a power of 2, under a Hann window. */
export class Spectrum {
  constructor(size) {
    this.size = size;
    this.window = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
    this.cos = Float64Array.from({ length: size / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / size));
    this.sin = Float64Array.from({ length: size / 2 }, (_, i) => Math.sin((2 * Math.PI * i) / size));
    this.order = bitReversed(size);
    this.re = new Float64Array(size);
    this.im = new Float64Array(size);
    this.power = new Float64Array(size / 2 + 1);
  }

  /** The power at each multiple of rate / size, of samples from `start` on, averaged over channels. */
  of(channels, start) {
    const { size, re, im, order, window, power } = this;
    for (let i = 0; i < size; i += 1) {
      let sum = 0;
      for (const channel of channels) sum += channel[start + i] ?? 0;
      re[order[i]] = (sum / channels.length) * window[i];
    }
    im.fill(0);
    this.transform();
    for (let k = 0; k <= size / 2; k += 1) power[k] = re[k] ** 2 + im[k] ** 2;
    return power;
  }

  /** The fast Fourier transform in place (Cooley and Tukey 1965), of input in bit-reversed order. */
  transform() {
    const { size, re, im, cos, sin } = this;
    for (let half = 1; half < size; half *= 2) {
      const step = size / (2 * half);
      for (let first = 0; first < size; first += 2 * half) {
        for (let k = 0; k < half; k += 1) {
          const [a, b, c, s] = [first + k, first + k + half, cos[k * step], sin[k * step]];
          const x = re[b] * c + im[b] * s;
          const y = im[b] * c - re[b] * s;
          re[b] = re[a] - x;
          im[b] = im[a] - y;
          re[a] += x;
          im[a] += y;
        }
      }
    }
  }
}

function bitReversed(size) {
  const order = new Uint32Array(size);
  for (let i = 1; i < size; i += 1) order[i] = (order[i >> 1] >> 1) | (i & 1 ? size / 2 : 0);
  return order;
}

/** For each row, the bins of a spectrum that lie in it and their shares, which add up to 1. */
function rowWeights(scale, rate_hz, size) {
  return Array.from({ length: ROWS }, (_, row) => {
    const [low, high] = [row, row + 1].map((edge) => (scale.hzAt(edge / ROWS) * size) / rate_hz);
    const bins = [];
    for (let bin = Math.round(low); bin <= Math.min(size / 2, Math.round(high)); bin += 1) {
      const share = (Math.min(high, bin + 0.5) - Math.max(low, bin - 0.5)) / (high - low);
      if (share > 0) bins.push([bin, share]);
    }
    return bins;
  });
}

function addRows(power, first, spectrum, weights, looks) {
  for (let row = 0; row < ROWS; row += 1) {
    for (const [bin, share] of weights[row]) power[first + row] += (spectrum[bin] * share) / looks;
  }
}

function decibelsOf(power) {
  const most = power.reduce((a, b) => Math.max(a, b), 0);
  return power.map((value) => (most > 0 ? Math.max(-DECIBELS, 10 * Math.log10(value / most)) : -DECIBELS));
}

/** The row with most sound in a column. */
export function loudestRow({ decibels }, column) {
  const levels = decibels.subarray(column * ROWS, (column + 1) * ROWS);
  return levels.reduce((best, level, row) => (level > levels[best] ? row : best), 0);
}
