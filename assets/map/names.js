// Names of countries and cities on the base map, chosen by zoom level and by the space available.

// By zoom level, how many people a city must have for its name to appear.
const PEOPLE_BY_ZOOM = [Infinity, 1e7, 8e6, 3e6, 1e6, 4e5, 1.5e5, 5e4, 0];
const METROPOLIS = 8e6; // these have priority over the countries' names
const COUNTRIES_UNTIL_ZOOM = 6;
// Where a city's name may be placed: right, left, above, below the dot.
const SIDES = [[1, 0], [-1, 0], [0, -1], [0, 1]];

const boxAround = (x, y, width, height) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];

/** Draws names, the most important first, each only if it covers no other. */
export class Names {
  constructor(world) {
    this.world = world;
    this.widths = new Map();
  }

  draw(context, view) {
    this.context = context;
    this.view = view;
    this.taken = [];
    Object.assign(context, { lineJoin: 'round', textBaseline: 'middle' });
    const { countries, cities } = this.world;
    const people = PEOPLE_BY_ZOOM[Math.min(view.zoom, PEOPLE_BY_ZOOM.length - 1)];
    const metropolises = cities.filter(({ population }) => population >= Math.max(people, METROPOLIS));
    metropolises.forEach((city) => this.city(city));
    if (view.zoom <= COUNTRIES_UNTIL_ZOOM) countries.forEach((country) => this.country(country));
    for (const city of cities.slice(metropolises.length)) {
      if (city.population < people) break;
      this.city(city);
    }
  }

  country({ name, x, y, width }) {
    const room = width * this.view.scale;
    const size = Math.max(11, Math.min(17, room / (name.length * 0.9)));
    const font = `600 ${Math.round(size)}px ${this.world.fontFamily}`;
    const wide = this.widthOf(name, font);
    if (wide > room * 1.25 && this.view.zoom < 5) return;
    this.context.textAlign = 'center';
    for (const [left, top] of this.places(x, y)) {
      // A wide country's name may move up or down to make room for its cities.
      const shifts = [0, -14, 14, -26, 26].filter((shift) => Math.abs(shift) < room / 3 || !shift);
      const free = shifts.find((shift) => this.claim(boxAround(left, top + shift, wide, size), 4));
      if (free !== undefined) this.write(name, left, top + free, font, 'country');
    }
  }

  city({ name, x, y, population }) {
    const size = population > 2e6 ? 13 : 12;
    const font = `${population > 2e6 ? 600 : 400} ${size}px ${this.world.fontFamily}`;
    const wide = this.widthOf(name, font);
    for (const [left, top] of this.places(x, y)) {
      const found = SIDES.find(([across, down]) => {
        const middle = left + across * (7 + wide / 2);
        const box = boxAround(middle, top + down * 14, wide, size);
        return this.claim([Math.min(box[0], left - 4), Math.min(box[1], top - 4), Math.max(box[2], left + 4), Math.max(box[3], top + 4)], 2);
      });
      if (!found) continue;
      this.dot(left, top, population > 2e6 ? 3 : 2.25);
      this.context.textAlign = 'center';
      this.write(name, left + found[0] * (7 + wide / 2), top + found[1] * 14, font, 'label');
    }
  }

  *places(x, y) {
    const { bounds, turns, toX, toY } = this.view;
    const top = toY(y);
    if (top < bounds.min.y || top > bounds.max.y) return;
    for (const turn of turns) {
      const left = toX(x, turn);
      if (left > bounds.min.x && left < bounds.max.x) yield [left, top];
    }
  }

  claim([left, top, right, bottom], margin) {
    const hit = ([l, t, r, b]) =>
      left - margin < r && right + margin > l && top - margin < b && bottom + margin > t;
    if (this.taken.some(hit)) return false;
    this.taken.push([left, top, right, bottom]);
    return true;
  }

  widthOf(text, font) {
    const key = font + text;
    if (!this.widths.has(key)) {
      this.context.font = font;
      this.widths.set(key, this.context.measureText(text).width);
    }
    return this.widths.get(key);
  }

  dot(left, top, radius) {
    const { context, world } = this;
    context.beginPath();
    context.arc(left, top, radius, 0, 2 * Math.PI);
    Object.assign(context, { fillStyle: world.colour('label'), strokeStyle: world.colour('halo'), lineWidth: 2 });
    context.stroke();
    context.fill();
  }

  write(text, left, top, font, colour) {
    const { context, world } = this;
    Object.assign(context, { font, strokeStyle: world.colour('halo'), lineWidth: 3 });
    context.strokeText(text, left, top);
    context.fillStyle = world.colour(colour);
    context.fillText(text, left, top);
  }
}
