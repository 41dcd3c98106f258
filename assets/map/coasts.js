// Detailed coasts, good to 200 m, in squares of the world that are fetched when one zooms in on them.
// Made by scripts/make_coasts.py. Leaflet is the global L.
import { Line, load } from './outlines.js';

//: From this zoom level on, a pixel is finer than the outlines of the whole world.
const FROM_ZOOM = 7;
const SQUARES = 32;
const UNITS = 2 ** 15;

/** The coasts for the tiles of a map; `changed(square)` is called once those of a square are here. */
export class Coasts {
  constructor(changed) {
    Object.assign(this, { changed, squares: new Map(), known: null });
  }

  /** The coasts around a tile of 512 pixels; null if there are none, or they are still to come. */
  of({ x, y, z }) {
    if (z < FROM_ZOOM) return null;
    const square = squareOf({ x, y, z });
    if (!this.squares.has(square)) {
      this.squares.set(square, null);
      this.fetch(square).catch((error) => console.error(error));
    }
    return this.squares.get(square);
  }

  async fetch(square) {
    this.known ??= load('../coasts/index.json', 'low').then((names) => new Set(names));
    if (!(await this.known).has(square)) return;
    const rings = await load(`../coasts/${square}.json`);
    const [left, top] = square.split('-').map((number) => number / SQUARES);
    this.squares.set(square, rings.map((steps) => lineOf(steps, left, top)));
    this.changed(square);
  }
}

/** The square in which a tile lies, as it is named. */
export function squareOf({ x, y, z }) {
  const across = 2 ** (z - 1); // tiles around the world
  const column = Math.floor((((x % across) + across) % across) * SQUARES / across);
  return `${column}-${Math.floor(y * SQUARES / across)}`;
}

function lineOf(steps, left, top) {
  const xy = new Float64Array(steps.length + 2);
  let [x, y] = [0, 0];
  for (let i = 0; i < steps.length; i += 2) {
    x += steps[i];
    y += steps[i + 1];
    xy[i] = left + x / (SQUARES * UNITS);
    xy[i + 1] = top + y / (SQUARES * UNITS);
  }
  xy.set(xy.subarray(0, 2), steps.length); // a ring ends where it begins
  return new Line(xy);
}
