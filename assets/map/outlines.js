// Files with outlines, fetched once, and their lines, thinned for each zoom level.

const PATIENCE_MS = 30_000;

const loads = new Map();
/** A JSON file from this folder, fetched once per page, with up to three tries. */
export function load(name, priority = 'auto') {
  if (!loads.has(name)) loads.set(name, fetchJson(new URL(name, import.meta.url), { priority }, 3));
  return loads.get(name);
}

async function fetchJson(url, options, tries) {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return await response.json();
  } catch (error) {
    if (tries <= 1) throw error;
    await new Promise((wake) => setTimeout(wake, 1000));
    // not through the browser's cache, which waits for the request that hangs
    return fetchJson(url, { ...options, cache: 'no-store' }, tries - 1);
  }
}

/** One ring or border, with a thinned copy for each zoom level on demand. */
export class Line {
  constructor(xy) {
    this.xy = xy;
    this.west = this.north = Infinity;
    this.east = this.south = -Infinity;
    for (let i = 0; i < xy.length; i += 2) {
      this.west = Math.min(this.west, xy[i]);
      this.east = Math.max(this.east, xy[i]);
      this.north = Math.min(this.north, xy[i + 1]);
      this.south = Math.max(this.south, xy[i + 1]);
    }
    this.thinned = new Map();
  }

  at(zoom) {
    if (!this.thinned.has(zoom)) this.thinned.set(zoom, thin(this.xy, 0.7 / (256 * 2 ** zoom)));
    return this.thinned.get(zoom);
  }
}

function thin(xy, step) {
  const kept = [xy[0], xy[1]];
  for (let i = 2; i < xy.length - 2; i += 2) {
    const far = Math.abs(xy[i] - kept.at(-2)) + Math.abs(xy[i + 1] - kept.at(-1)) > step;
    if (far) kept.push(xy[i], xy[i + 1]);
  }
  kept.push(xy.at(-2), xy.at(-1));
  return new Float64Array(kept);
}
