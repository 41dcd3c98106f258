// What is done to the sound: one band of frequencies, and louder without clipping.

export const LOWEST_HZ = 20;
export const HIGHEST_HZ = 20000;
//: Narrower bands ring: the upper edge is at least this many times the lower one.
export const NARROWEST = 1.1;
//: Of the three sections of a Butterworth filter of order 6 (-3 dB at its edge, 36 dB per octave).
const QUALITIES = [0.5176, 0.7071, 1.9319];
const PEAK = 10 ** (-1 / 20);
const LIMITER = { threshold: -12, knee: 0, ratio: 20, attack: 0.001, release: 0.1 };
//: What a compressor with these settings adds to quiet sounds, by the Web Audio standard.
const MAKEUP_DB = 0.6 * -LIMITER.threshold * (1 - 1 / LIMITER.ratio);

const linear = (decibels) => 10 ** (decibels / 20);

/** Why a band cannot be used, in one sentence, or "". */
export function bandProblem({ low, high }) {
  if (low >= LOWEST_HZ && high <= HIGHEST_HZ && low * NARROWEST <= high) return '';
  return `Give a band within ${LOWEST_HZ} and ${HIGHEST_HZ.toLocaleString('en')} Hz, whose upper end is at least ${NARROWEST} times the lower one.`;
}

/** Leads a source to a context's destination, through filters and a limiter if they are wanted. */
export class Chain {
  constructor(context) {
    const edges = (type) => QUALITIES.map((quality) => new BiquadFilterNode(context, { type, Q: 20 * Math.log10(quality) }));
    Object.assign(this, { context, lowCut: edges('highpass'), highCut: edges('lowpass') });
    this.louder = new GainNode(context);
    this.limiter = new DynamicsCompressorNode(context, LIMITER);
    this.ceiling = new WaveShaperNode(context, { curve: ceilingCurve() });
  }

  /** From now on `source` is heard through the chain, as recorded at first. */
  hear(source) {
    this.source = source;
    this.set(null, 0);
  }

  /** `band`: { low, high } in Hz, or null for all frequencies; `boost_db`: 0 is as recorded. */
  set(band, boost_db) {
    const top_hz = 0.475 * this.context.sampleRate;
    for (const { frequency } of this.lowCut) frequency.value = Math.min(band?.low ?? LOWEST_HZ, top_hz);
    for (const { frequency } of this.highCut) frequency.value = Math.min(band?.high ?? HIGHEST_HZ, top_hz);
    this.louder.gain.value = linear(boost_db - MAKEUP_DB);
    this.connect([
      ...(band ? [...this.lowCut, ...this.highCut] : []),
      ...(boost_db ? [this.louder, this.limiter, this.ceiling] : []),
    ]);
  }

  connect(nodes) {
    const all = [this.source, ...this.lowCut, ...this.highCut, this.louder, this.limiter, this.ceiling];
    for (const node of all) node.disconnect();
    [this.source, ...nodes].forEach((node, n) => node.connect(nodes[n] ?? this.context.destination));
  }
}

/** Samples as they are, up to -1 dB of full scale. */
function ceilingCurve() {
  const n = 4097;
  return Float32Array.from({ length: n }, (_, i) => Math.max(-PEAK, Math.min(PEAK, (2 * i) / (n - 1) - 1)));
}
