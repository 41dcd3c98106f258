// The world under the pins: land, borders and names, drawn on canvas. Leaflet is the global L.
// Points are stored as fractions of the square Mercator world: x east, y south, 0 to 1.
import { Coasts, squareOf } from './coasts.js';
import { Names } from './names.js';
import { Line, load } from './outlines.js';

const LARGEST_LATITUDE = 85.0511;
const SMALL_CITIES_FROM_ZOOM = 7;

export const worldX = (longitude) => longitude / 360 + 0.5;
export function worldY(latitude) {
  const clamped = Math.max(-LARGEST_LATITUDE, Math.min(LARGEST_LATITUDE, latitude));
  return 0.5 - Math.asinh(Math.tan((clamped * Math.PI) / 180)) / (2 * Math.PI);
}

/** Until the browser has nothing more urgent to do. */
const leisure = () => new Promise((done) => {
  if (window.requestIdleCallback) requestIdleCallback(done, { timeout: 2000 });
  else setTimeout(done, 500);
});

function outlineOf({ arcs, transform: { scale, translate }, objects }) {
  const lines = arcs.map((arc) => {
    let [x, y] = [0, 0];
    const xy = new Float64Array(arc.length * 2);
    arc.forEach(([east, north], i) => {
      xy[2 * i] = worldX((x += east) * scale[0] + translate[0]);
      xy[2 * i + 1] = worldY((y += north) * scale[1] + translate[1]);
    });
    return new Line(xy);
  });
  return {
    land: objects.land.arcs.flat().map(([index]) => lines[index]),
    borders: objects.borders.arcs.map(([index]) => lines[index]),
  };
}

/**
 * The lines that touch a square of the world, as one path in its pixels; smaller ones left out.
 * ``open`` leaves out the cuts through land at ±180°, which are not coasts.
 */
function pathOf(lines, { x, y, z }, size, { smallestPx = 0, open = false } = {}) {
  const path = new Path2D();
  const scale = 256 * 2 ** z;
  const smallest = smallestPx / scale;
  const margin = 8 / scale;
  const [north, south] = [(y * size) / scale - margin, ((y + 1) * size) / scale + margin];
  for (const turn of [-1, 0, 1]) {
    const [west, east] = [(x * size) / scale - turn, ((x + 1) * size) / scale - turn];
    const box = { west: west - margin, east: east + margin, north, south };
    const place = { scale, left: west * scale, top: y * size, open };
    for (const line of lines) {
      const apart = line.east < box.west || line.west > box.east;
      if (apart || line.south < north || line.north > south) continue;
      if (line.east - line.west < smallest && line.south - line.north < smallest) continue;
      trace(path, line, z, box, place);
    }
  }
  return path;
}

function trace(path, line, zoom, box, { scale, left, top, open }) {
  const xy = line.at(zoom);
  if (xy.length < 8 && (line.east - line.west) * scale < 1.5) {
    path.rect(line.west * scale - left - 0.6, line.north * scale - top - 0.6, 1.2, 1.2);
    return;
  }
  const side = (i) =>
    (xy[i] < box.west ? 1 : 0) | (xy[i] > box.east ? 2 : 0) |
    (xy[i + 1] < box.north ? 4 : 0) | (xy[i + 1] > box.south ? 8 : 0);
  path.moveTo(xy[0] * scale - left, xy[1] * scale - top);
  let [before, here] = [side(0), xy.length > 2 ? side(2) : 0];
  for (let i = 2; i < xy.length; i += 2) {
    const after = i + 2 < xy.length ? side(i + 2) : 0;
    // A point beyond the same edge as both of its neighbours changes nothing inside.
    if (!(before & here & after)) {
      const cut = open && onCut(xy[i]) && onCut(xy[i - 2]);
      path[cut ? 'moveTo' : 'lineTo'](xy[i] * scale - left, xy[i + 1] * scale - top);
      before = here;
    }
    here = after;
  }
}

const onCut = (x) => Math.abs(x) < 1e-9 || Math.abs(x - 1) < 1e-9;

const LandTiles = L.GridLayer.extend({
  options: { pane: 'agl-land', tileSize: 512, updateWhenZooming: false, keepBuffer: 1 },

  createTile(coords) {
    const tile = document.createElement('canvas');
    const size = this.options.tileSize;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    tile.width = tile.height = size * ratio;
    tile.getContext('2d').scale(ratio, ratio);
    tile.coords = coords;
    this.paint(tile);
    return tile;
  },

  /** Draw all tiles, or those that `isMeant`, again where they are: no flicker. */
  repaint(isMeant = () => true) {
    for (const { el } of Object.values(this._tiles)) if (isMeant(el.coords)) this.paint(el);
  },

  paint(tile) {
    const { outline, colour, coasts } = this.options.world;
    const size = this.options.tileSize;
    const context = tile.getContext('2d');
    context.clearRect(0, 0, size, size);
    if (!outline) return;
    const far = tile.coords.z < 4;
    const rings = coasts.of(tile.coords) ?? outline.land;
    const land = pathOf(rings, tile.coords, size);
    const coast = pathOf(rings, tile.coords, size, { smallestPx: 5, open: true });
    Object.assign(context, { lineJoin: 'round', lineWidth: far ? 4 : 7, strokeStyle: colour('shallow') });
    context.stroke(far ? coast : land);
    context.fillStyle = colour('land');
    context.fill(land, 'evenodd');
    Object.assign(context, { lineWidth: far ? 0.5 : 0.8, strokeStyle: colour('coast') });
    context.stroke(coast);
    Object.assign(context, { lineWidth: far ? 0.7 : 1, strokeStyle: colour('border') });
    context.stroke(pathOf(outline.borders, tile.coords, size));
  },
});

/** A canvas over the view that calls ``draw(context, view)`` whenever the view stops moving. */
export const CanvasLayer = L.Canvas.extend({
  _initContainer() {
    this._container = document.createElement('canvas');
    this._container.setAttribute('aria-hidden', 'true');
    this._ctx = this._container.getContext('2d');
  },
  _updatePaths() {
    this._draw();
  },
  _draw() {
    if (this._bounds) this.options.draw(this._ctx, viewOf(this._map, this._bounds));
  },
  repaint() {
    if (this._map) this._update();
  },
});

/** Maps world fractions to the canvas; ``turns`` are the visible copies of the world. */
function viewOf(map, bounds) {
  const scale = 256 * 2 ** map.getZoom();
  const origin = map.getPixelOrigin();
  const turns = [];
  const last = Math.floor((bounds.max.x + origin.x) / scale);
  for (let k = Math.floor((bounds.min.x + origin.x) / scale); k <= last; k++) turns.push(k);
  return {
    zoom: Math.round(map.getZoom()), scale, bounds, turns,
    toX: (x, turn) => (x + turn) * scale - origin.x,
    toY: (y) => y * scale - origin.y,
  };
}

/** Land, borders and names on a Leaflet map; ``ready`` is kept once the coarse world is drawn. */
export class BaseMap {
  /** Names and fine outlines are fetched after the promises `later.names` and `later.outlines`. */
  constructor(map, later = {}) {
    this.map = map;
    this.countries = [];
    this.cities = [];
    this.colours = new Map();
    this.fontFamily = getComputedStyle(map.getContainer()).fontFamily;
    this.colour = this.colour.bind(this);
    map.createPane('agl-land').style.zIndex = 150;
    const names = map.createPane('agl-names');
    Object.assign(names.style, { zIndex: 350, pointerEvents: 'none' });
    this.coasts = new Coasts((square) => this.tiles.repaint((coords) => squareOf(coords) === square));
    this.tiles = new LandTiles({ world: this }).addTo(map);
    const drawer = new Names(this);
    const draw = (context, view) => drawer.draw(context, view);
    this.names = new CanvasLayer({ pane: 'agl-names', padding: 0.2, draw }).addTo(map);
    this.ready = this.show('world-coarse.json');
    this.ready.then(() => this.complete(later)).catch((error) => console.error(error));
    map.on('zoomend', () => this.loadSmallCities());
  }

  /** Names and fine outlines: the map can be used without them. */
  async complete({ names, outlines }) {
    await names;
    await leisure();
    await this.showNames().catch((error) => console.error(error));
    await outlines;
    await this.show('world-fine.json', 'low');
  }

  async showNames() {
    const [countries, cities] = await Promise.all(['countries.json', 'cities-large.json'].map((name) => load(name, 'low')));
    this.countries = countries.map(([name, latitude, longitude, width]) => (
      { name, x: worldX(longitude), y: worldY(latitude), width: width / 360 }));
    this.cities = rowsOf(cities);
    this.names.repaint();
    this.loadSmallCities();
  }

  async show(name, priority) {
    this.outline = outlineOf(await load(name, priority));
    this.tiles.repaint();
    this.map.getContainer().dataset.outline = name;
  }

  async loadSmallCities() {
    if (this.small || !this.cities.length || this.map.getZoom() < SMALL_CITIES_FROM_ZOOM) return;
    this.small = true;
    this.cities = this.cities.concat(rowsOf(await load('cities-small.json')));
    this.names.repaint();
  }

  /** A colour of the map, ``--map-NAME``, in the current theme. */
  colour(name) {
    if (!this.colours.has(name)) {
      const style = getComputedStyle(this.map.getContainer());
      this.colours.set(name, style.getPropertyValue(`--map-${name}`).trim());
    }
    return this.colours.get(name);
  }

  recolour() {
    this.colours.clear();
    this.tiles.repaint();
    this.names.repaint();
  }

  /** The nearest large city and its distance in km, to describe a place in words. */
  nearest(latitude, longitude) {
    let best = null;
    for (const city of this.cities) {
      const distance = this.map.distance([latitude, longitude], [city.latitude, city.longitude]) / 1000;
      if (!best || distance < best.distance) best = { name: city.name, distance };
    }
    return best;
  }
}

function rowsOf({ name, latitude, longitude, population }) {
  return name.map((_, i) => ({
    name: name[i], latitude: latitude[i], longitude: longitude[i], population: population[i],
    x: worldX(longitude[i]), y: worldY(latitude[i]),
  }));
}
