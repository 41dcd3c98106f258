// The map: a pin for the guess, and what Python has it show. Its HTML is in ui/worldmap.py.
// Leaflet is the global L.

//: Where people live, from Fiji and the Bering Strait around the world: in one view at any size.
const WORLD = { north: 72, south: -56, west: -172, east: 192 };
//: A view of a few hundred km, if nothing is known about the country.
const CLOSEST_REVEAL = 7;
const PINS = {
  guess: {
    size: [30, 40],
    anchor: [15, 39],
    draw: (text) => `<path class="agl-pin-body" d="M15 1.5C7.5 1.5 1.5 7.4 1.5 14.8 1.5 24.6 15 38.5 15 38.5s13.5-13.9 13.5-23.7C28.5 7.4 22.5 1.5 15 1.5z"/>${
      text ? `<text x="15" y="20">${text}</text>` : '<circle class="agl-pin-eye" cx="15" cy="14.8" r="5"/>'}`,
  },
  truth: {
    size: [34, 42],
    anchor: [6, 40],
    draw: (text) => `<path class="agl-pin-edge" d="M6 3v36"/><path class="agl-pin-pole" d="M6 3v36"/><path class="agl-pin-body" d="M6 3.5c8-4 14 4 25 0v17c-11 4-17-4-25 0z"/>${
      text ? `<text x="18.5" y="17.5">${text}</text>` : '<path class="agl-pin-eye" d="M13.5 12l3.4 3.6 6.6-7"/>'}`,
  },
  model: {
    size: [18, 18],
    anchor: [9, 9],
    draw: () => '<path class="agl-pin-body" d="M9 2l7 7-7 7-7-7z"/>',
  },
};

/** Draw the map of a Gradio component, which passes pins and commands in its props. */
export async function attach({ element, props, watch }, options) {
  const world = await createMap(element, options, (value) => { props.value = value; });
  watch('cmd', () => world.obey(props.cmd));
  watch('value', () => world.followValue(props.value));
  if (props.cmd) world.obey(props.cmd);
  else world.followValue(props.value);
  return world;
}

/**
 * Draw a map in `element`, which holds the HTML of ui/worldmap.py; returns the WorldMap.
 *
 * `changed` receives the pin as JSON, or null, whenever it changes. With `readonly`, no pin can be
 * dropped; `tiles` is the URL template of a raster layer, `leaflet` the address of Leaflet; `later`
 * are the promises for which details wait.
 */
export async function createMap(element, options, changed) {
  const [parts] = await Promise.all([loadParts(options.leaflet), styleSheet('worldmap.css')]);
  return new WorldMap(element, options, changed, parts);
}

/** The parts of the map that need Leaflet when they are loaded. */
async function loadParts(leaflet) {
  await import(new URL(leaflet, document.baseURI));
  const [{ BaseMap }, { pointsLayer }, { addExpansion }] = await Promise.all(
    [import('./map/basemap.js'), import('./map/points.js'), import('./map/expand.js')]);
  return { BaseMap, pointsLayer, addExpansion };
}

/** Wait for the style sheet, whose colours the canvas uses: Gradio only waits for scripts. */
async function styleSheet(name) {
  const link = [...document.querySelectorAll('link[rel=stylesheet]')].find(({ href }) => href.includes(name));
  if (!link || link.sheet) return;
  await new Promise((done) => ['load', 'error'].forEach((event) => link.addEventListener(event, done)));
}

const PIN_KEY = 'agl1k-pin';

class WorldMap {
  constructor(element, options, changed, { BaseMap, pointsLayer, addExpansion }) {
    const frame = element.querySelector('.agl-world');
    const map = L.map(frame, { center: [0, 0], zoom: 1, zoomSnap: 0, zoomControl: false });
    Object.assign(this, { element, options, changed, pointsLayer, frame, map });
    Object.assign(this, { value: null, pin: null, locked: false });
    this.status = element.querySelector('.agl-map-status');
    this.scene = null; // draws the revealed places, again whenever the view moves around the world
    this.layers = L.layerGroup().addTo(map);
    map.setMinZoom(0).setMaxZoom(12).setMaxBounds([[-86, -1e6], [86, 1e6]]);
    // over the Pacific, where they hide no land of the first view
    L.control.zoom({ position: 'bottomleft' }).addTo(map);
    addExpansion(map, element.closest('.agl-stage') ?? element.querySelector('.agl-map'));
    scale().addTo(map);
    map.attributionControl.setPrefix('Leaflet').addAttribution('Natural Earth, GSHHG, GeoNames');
    this.goHome();
    this.base = new BaseMap(map, options.later);
    this.base.ready.then(() => element.dispatchEvent(new Event('agl-map-ready')), (error) => {
      console.error(error);
      this.say('The outlines of the map could not be loaded. Reload the page to try again.', true);
    });
    this.say('');
    this.prepareFrame();
    this.listen();
    this.showRaster();
  }

  prepareFrame() {
    const { frame, options } = this;
    frame.setAttribute('role', 'application');
    const hint = 'Arrow keys move the map, plus and minus zoom';
    frame.setAttribute('aria-label', options.readonly
      ? `${options.map_label}. ${hint}.`
      : `${options.map_label}. ${hint}, Enter or Space drops the pin at the crosshair.`);
    if (!options.readonly) return;
    this.map.scrollWheelZoom.disable(); // it would block the scrolling of a long page
    this.map.on('focus', () => this.map.scrollWheelZoom.enable());
    this.map.on('blur', () => this.map.scrollWheelZoom.disable());
  }

  listen() {
    const { map, frame } = this;
    this.updateLock();
    map.on('click', ({ latlng }) => this.drop(latlng));
    map.on('moveend', () => this.follow());
    frame.addEventListener('keydown', (event) => this.onKey(event));
    // The crosshair is for keyboard users only; :focus-visible also matches after some clicks.
    const byKey = (on) => () => this.element.classList.toggle('agl-map-by-key', on);
    for (const event of ['keydown', 'keyup']) frame.addEventListener(event, byKey(true));
    for (const event of ['pointerdown', 'blur']) frame.addEventListener(event, byKey(false), true);
    new ResizeObserver(() => this.resize()).observe(frame);
    const recolour = new MutationObserver(() => this.recolour());
    for (const node of [document.documentElement, document.body]) {
      recolour.observe(node, { attributes: true, attributeFilter: ['class'] });
    }
  }

  /** Raster tiles cover the drawn land, but only once the first one has arrived. */
  showRaster() {
    const { tiles } = this.options;
    if (!tiles) return;
    const probe = new Image();
    probe.onload = () => {
      const credit = tiles.includes('openstreetmap') ? '© OpenStreetMap contributors' : '';
      L.tileLayer(tiles, { attribution: credit, maxZoom: 12 }).addTo(this.map);
      this.base.names.remove();
    };
    probe.src = L.Util.template(tiles, { s: 'a', z: 0, x: 0, y: 0, r: '' });
  }

  recolour() {
    this.base.recolour();
    this.pointsShown?.repaint();
  }

  // ---- the pin

  onKey(event) {
    if (event.target !== this.frame) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.drop(this.map.getCenter());
    } else if (event.key.startsWith('Arrow') || event.key === '+' || event.key === '-') {
      clearTimeout(this.telling);
      this.telling = setTimeout(() => this.say(`Crosshair at ${this.inWords(this.map.getCenter())}`), 700);
    }
  }

  drop(latlng) {
    if (this.locked || this.options.readonly) return;
    clearTimeout(this.telling);
    this.putPin(latlng);
    const { lat, lng } = latlng.wrap();
    const value = { latitude: round(Math.max(-90, Math.min(90, lat))), longitude: round(lng) };
    this.setValue(value);
    if (this.pinOf) remember(this.pinOf, value);
    this.say(`Pin at ${this.inWords(latlng)}`);
    this.element.dispatchEvent(new CustomEvent('agl-pin', { bubbles: true, detail: value }));
  }

  /** Show the pin where it was dropped, on that copy of the world. */
  putPin(latlng) {
    this.element.classList.add('agl-map-pinned');
    if (this.pin) return this.pin.setLatLng(latlng);
    this.pin = marker('guess', latlng, { draggable: true, autoPan: true, title: 'Your pin' }).addTo(this.map);
    this.pin.on('dragend', () => this.drop(this.pin.getLatLng()));
    return this.pin;
  }

  removePin() {
    this.element.classList.remove('agl-map-pinned');
    this.pin?.remove();
    this.pin = null;
  }

  setValue(pin) {
    this.value = pin && JSON.stringify(pin);
    this.changed(this.value);
  }

  /** Show the pin that is given as JSON, or none. */
  followValue(text) {
    if (this.locked || (text || null) === this.value) return;
    this.value = text || null;
    const value = text ? JSON.parse(text) : null;
    if (value) this.putPin(this.nearView(L.latLng(value.latitude, value.longitude)));
    else this.removePin();
  }

  inWords(latlng) {
    const { lat, lng } = latlng.wrap();
    const place = this.base.nearest(lat, lng);
    const near = place ? `, ${Math.round(place.distance)} km from ${place.name}` : '';
    return coordinates(lat, lng) + near;
  }

  /** Announce a text to screen readers, and with ``visibly`` to everybody. */
  say(text, visibly = false) {
    this.status.textContent = text;
    this.status.classList.toggle('agl-sr-only', !visibly);
  }

  // ---- commands from Python

  obey(command) {
    const { op } = command ?? {};
    if (!['reset', 'lock', 'restore', 'reveal', 'summary', 'points'].includes(op)) return;
    clearTimeout(this.telling);
    this[op](command);
    this.updateLock();
    if (command.text) this.say(command.text);
  }

  updateLock() {
    this.element.classList.toggle('agl-map-aiming', !this.locked && !this.options.readonly);
    if (this.pin?.dragging) this.pin.dragging[this.locked ? 'disable' : 'enable']();
  }

  clear() {
    this.scene = null;
    this.layers.clearLayers();
    this.pointsShown?.remove();
    this.removePin();
  }

  /** With `opens`, a pin that was dropped and a view that was chosen before stay. */
  reset({ view, pin_of: pinOf = '', opens = false }) {
    const early = opens && this.value;
    const isKept = view === 'keep' || (opens && this.home && !this.isHome);
    this.clear();
    this.locked = false;
    this.setValue(null);
    this.say('');
    if (!isKept) this.goHome();
    this.pinOf = pinOf;
    const pin = early ? JSON.parse(early) : pinOf && remembered(pinOf);
    if (early && pinOf) remember(pinOf, pin);
    if (pin) this.restore({ pin, locked: false });
  }

  lock() {
    this.locked = true;
  }

  restore({ pin, locked }) {
    this.clear();
    this.locked = Boolean(locked);
    if (!pin) return;
    const latlng = this.nearView(L.latLng(pin.latitude, pin.longitude));
    this.putPin(latlng);
    this.setValue(pin);
    if (!this.map.getBounds().contains(latlng)) this.map.panTo(latlng, { animate: false });
  }

  reveal({ guess, truth, label, line, guessed, models = [], around = null }) {
    this.locked = true;
    const way = wayOf(guess, truth, line);
    const end = way.at(-1);
    this.show([...way, ...cornersOf(around, end)], (turn) => {
      this.drawRound({ guess, guessed, label, turn, way });
      for (const model of models) {
        const { lat, lon } = model;
        const lng = lon + 360 * Math.round((end[1] - lon) / 360) + turn;
        const words = `${model.name}: ${kilometres(model.distance_km)} away`;
        marker('model', [lat, lng], { keyboard: true, title: words }).bindTooltip(plain(words)).addTo(this.layers);
      }
    });
  }

  summary({ rounds }) {
    this.locked = true;
    const drawn = rounds.map((round) => onOneWorld(wayOf(round.guess, round.truth, round.line), round));
    this.show(drawn.flatMap(({ ends }) => ends), (turn) => {
      for (const round of drawn) this.drawRound({ ...round, turn, text: round.number });
    });
  }

  points({ points }) {
    this.clear();
    this.locked = true;
    this.pointsShown = this.pointsLayer(points, this.base.colour).addTo(this.map);
  }

  /** A line between two pins; a line that leaves one edge of the world enters at the other. */
  drawRound({ guess, guessed = 'your pin', label, turn, way, ways = [way], ends = [way[0], way.at(-1)], text = '' }) {
    const turned = ([lat, lng]) => [lat, lng + turn];
    const name = text ? `Round ${text}: ` : '';
    if (guess) {
      for (const className of ['agl-line-casing', 'agl-line']) {
        L.polyline(ways.map((one) => one.map(turned)), { className, interactive: false, renderer: this.renderer() }).addTo(this.layers);
      }
      const own = name + guessed;
      marker('guess', turned(ends[0]), { text, title: own }).bindTooltip(plain(own)).addTo(this.layers);
    }
    const shown = { direction: 'auto', offset: [28, -26], className: 'agl-tip' };
    const truth = marker('truth', turned(ends[1]), { text, title: name + label });
    truth.bindTooltip(plain(text ? name + label : label), { ...shown, permanent: !text && Boolean(label) });
    truth.addTo(this.layers);
  }

  renderer() {
    this.svg ??= L.svg({ padding: 1 });
    return this.svg;
  }

  // ---- the view

  /** Replace what is shown by ``scene``, and move so that all of ``way`` is visible. */
  show(way, scene) {
    this.clear();
    this.scene = scene;
    const longitudes = way.map(([, lng]) => lng);
    this.middle = (Math.min(...longitudes) + Math.max(...longitudes)) / 2;
    this.drawScene();
    this.fit(way.map(([lat, lng]) => [lat, lng + this.turn]));
  }

  drawScene() {
    this.turn = 360 * Math.round((this.map.getCenter().lng - this.middle) / 360);
    this.layers.clearLayers();
    this.scene(this.turn);
  }

  /** Keep the pins on the copy of the world that is in view. */
  follow() {
    if (this.pin) this.pin.setLatLng(this.nearView(this.pin.getLatLng()));
    const turns = Math.round((this.map.getCenter().lng - this.middle) / 360);
    if (this.scene && 360 * turns !== this.turn) this.drawScene();
  }

  nearView({ lat, lng }) {
    return L.latLng(lat, lng + 360 * Math.round((this.map.getCenter().lng - lng) / 360));
  }

  fit(latlngs) {
    this.shown = latlngs;
    const move = () => {
      const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
      const room = this.isNarrow() ? [[68, 48], [40, 24]] : [[64, 64], [64, 40]];
      const [paddingTopLeft, paddingBottomRight] = this.covered().map((size, n) => L.point(size).add(room[n]));
      this.map.flyToBounds(L.latLngBounds(latlngs), {
        paddingTopLeft, paddingBottomRight, maxZoom: CLOSEST_REVEAL, duration: 0.9, animate: !still });
    };
    this.whenReady(move);
  }

  /** Show a place with its surroundings, `across` degrees of longitude wide; the keyboard is there. */
  goTo(latitude, longitude, across, name) {
    const { lat, lng } = this.nearView(L.latLng(latitude, longitude));
    this.whenReady(() => {
      const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
      this.map.flyToBounds([[lat, lng - across / 2], [lat, lng + across / 2]], { duration: 0.9, animate: !still });
    });
    this.frame.focus({ preventScroll: true });
    this.say(this.locked ? `The map shows ${name}.` : `The map shows ${name}. Press Enter to drop the pin there.`);
  }

  goHome() {
    this.whenReady(() => {
      this.measure();
      this.map.setView(this.home.center, this.home.zoom, { animate: false });
      this.limit();
    });
  }

  /** No view is much wider than the inhabited world. */
  limit() {
    this.map.setMinZoom(Math.max(0, this.home.zoom - 0.25));
  }

  /** Find the view of the inhabited world in the map's present size. */
  measure() {
    const { map } = this;
    map.options.minZoom = 0; // the size before had another
    const bounds = L.latLngBounds([WORLD.south, WORLD.west], [WORLD.north, WORLD.east]);
    const [topLeft, bottomRight] = this.covered().map((size) => L.point(size));
    const zoom = map.getBoundsZoom(bounds, false, topLeft.add(bottomRight));
    const middle = map.project(bounds.getNorthWest(), zoom).add(map.project(bounds.getSouthEast(), zoom))
      .add(bottomRight).subtract(topLeft).divideBy(2);
    this.home = { center: map.unproject(middle, zoom), zoom };
  }

  /** What is covered at the left and top, right and bottom: by cards on a map in the whole window,
   *  on a low map by the search. */
  covered() {
    if (!this.element.closest('.agl-stage.agl-map-wide')) {
      const searches = this.map.getSize().y < 480 && this.element.querySelector('#agl-search > *');
      return [[0, searches ? 48 : 0], [0, 0]];
    }
    return this.isNarrow() ? [[0, 128], [0, 80]] : [[0, 0], [352, 0]];
  }

  get isHome() {
    const { map, home } = this;
    return home && Math.abs(map.getZoom() - home.zoom) < 0.01 && map.distance(map.getCenter(), home.center) < 1000;
  }

  isNarrow() {
    return (this.frame.clientWidth || window.innerWidth) < 600;
  }

  /** Move once the map has a size (not in a hidden tab) and no zoom is running. */
  whenReady(move) {
    this.waiting = null;
    if (this.map.getSize().x === 0) this.waiting = move;
    // Leaflet ignores a setView() during the animation of a zoom.
    else if (this.map._animatingZoom) this.map.once('zoomend', () => this.whenReady(move));
    else move();
  }

  /** In another size, the whole world stays the whole world, and a scene stays in view. */
  resize() {
    const { isHome } = this;
    this.map.invalidateSize({ animate: false });
    if (this.map.getSize().x === 0) return;
    if (this.waiting) this.whenReady(this.waiting);
    else if (isHome) this.goHome();
    else this.keepView();
  }

  keepView() {
    this.measure();
    this.limit();
    if (this.scene) this.fit(this.shown);
  }
}

/** Leaflet's scale, with thousands written as in the rest of the page. */
function scale() {
  const made = L.control.scale({ imperial: false, position: 'bottomright', maxWidth: 130 }); // half of it holds 1,000 km
  const update = made._updateScale;
  made._updateScale = function written(line, text, ratio) {
    update.call(this, line, text.replace(/\d{4,}/, (digits) => Number(digits).toLocaleString('en')), ratio);
  };
  return made;
}

function marker(kind, latlng, { text = '', title, ...options }) {
  const { size, anchor, draw } = PINS[kind];
  const [width, height] = size;
  const label = String(text).replace(/[^\w]/g, '');
  const html = `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true">${draw(label)}</svg>`;
  const icon = L.divIcon({ className: `agl-pin agl-pin-${kind}`, html, iconSize: size, iconAnchor: anchor });
  const made = L.marker(latlng, { icon, keyboard: false, zIndexOffset: kind === 'model' ? 0 : 1000, ...options });
  made.on('add', () => {
    if (!options.keyboard) made.getElement().setAttribute('role', 'img');
    made.getElement().setAttribute('aria-label', title);
  });
  return made;
}

/** Leaflet treats text as HTML, and anybody can choose a name. */
function plain(text) {
  const node = document.createElement('span');
  node.textContent = text;
  return node;
}

/** The line from guess to truth as [latitude, longitude] without jumps; without a guess, the truth. */
function wayOf(guess, truth, line) {
  if (line?.length) return line;
  const end = [truth.latitude, truth.longitude];
  if (!guess) return [end];
  const turns = Math.round((truth.longitude - guess.longitude) / 360);
  return [[guess.latitude, guess.longitude], [end[0], end[1] - 360 * turns]];
}

/** The corners of a box of degrees around a place, on the same copy of the world. */
function cornersOf(box, [, lng]) {
  if (!box) return [];
  const [south, west, north, east] = box;
  const turn = 360 * Math.round((lng - (west + east) / 2) / 360);
  return [[south, west + turn], [north, east + turn]];
}

/** A round with both pins on the world's first copy, and its line drawn at each edge it crosses. */
function onOneWorld(way, round) {
  const [start, end] = [way[0], way.at(-1)].map(([lat, lng]) => [lat, onFirstCopy(lng)]);
  const shifted = (by) => way.map(([lat, lng]) => [lat, lng + by]);
  const shifts = new Set([start[1] - way[0][1], end[1] - way.at(-1)[1]]);
  return { ...round, ends: [start, end], ways: [...shifts].map(shifted) };
}

/** The first copy is cut in the Bering Strait, east of Fiji. */
const onFirstCopy = (lng) => lng - 360 * Math.floor((lng + 170) / 360);

/** The pin stored under that name in this tab, or null. */
function remembered(name) {
  try {
    const { of, pin } = JSON.parse(sessionStorage.getItem(PIN_KEY)) ?? {};
    const isPin = Number.isFinite(pin?.latitude) && Number.isFinite(pin?.longitude);
    return of === name && isPin && Math.abs(pin.latitude) <= 90 && Math.abs(pin.longitude) <= 180 ? pin : null;
  } catch {
    return null;
  }
}

function remember(name, pin) {
  try {
    sessionStorage.setItem(PIN_KEY, JSON.stringify({ of: name, pin }));
  } catch { /* storage is full or blocked: the pin does not survive a reload */ }
}

const round = (degrees) => Number(degrees.toFixed(5));
const kilometres = (distance) => `${Math.round(distance).toLocaleString('en')} km`;

function coordinates(lat, lng) {
  const northSouth = lat < 0 ? 'S' : 'N';
  const eastWest = lng < 0 ? 'W' : 'E';
  return `${Math.abs(lat).toFixed(1)}° ${northSouth}, ${Math.abs(lng).toFixed(1)}° ${eastWest}`;
}
