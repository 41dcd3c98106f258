// After a round: each clip can be heard again and shown on the map, with others' pins; and how the
// total compares with others'. What others did comes from the play API, already in bins.
import { look } from './api.js';
import { addSheet, make } from './dom.js';

addSheet('afterwards.css');

const SHADES = 4;
const count = (number, word) => `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`;

/** Enrich the summary that `stage` shows now. */
export class Afterwards {
  constructor(stage) {
    this.stage = stage;
    this.layer = null;
  }

  /** Take others' pins off the map. */
  close() {
    this.layer?.remove();
    this.layer = null;
  }

  async follow() {
    this.close();
    const summary = this.stage.parts.result.querySelector('.agl-summary');
    if (!summary || summary.querySelector('.agl-after')) return;
    this.note = make('p', { className: 'agl-muted agl-small agl-after' });
    this.note.setAttribute('role', 'status');
    summary.querySelector('.agl-rounds').after(this.note);
    this.rows = [...summary.querySelectorAll('tr[data-clip]')];
    this.rows.forEach((row) => this.enrich(row));
    const { player } = this.stage;
    const others = await look(`others?round=${encodeURIComponent(summary.dataset.round)}`, player).catch(() => null);
    if (!others || !summary.isConnected) return;
    this.clips = new Map(others.clips.map((clip) => [clip.position, clip]));
    if (others.scores.n_others) summary.querySelector('.agl-summary-total').after(figureOf(others.scores));
  }

  enrich(row) {
    const { number } = row.dataset;
    const hear = make('button', { type: 'button', className: 'agl-hear', ariaLabel: `Hear clip ${number} again` });
    hear.append(make('span', { ariaHidden: 'true' }, '▶'));
    hear.addEventListener('click', (event) => { event.stopPropagation(); this.hear(row); });
    row.firstElementChild.append(hear);
    if (!row.dataset.lat) return;
    const place = row.children[1];
    const name = place.textContent;
    const go = make('button', { type: 'button', className: 'agl-go' }, name);
    go.setAttribute('aria-pressed', 'false');
    go.setAttribute('aria-label', `${name}: show clip ${number} on the map`);
    place.replaceChildren(go);
    row.addEventListener('click', () => this.show(row, name));
  }

  hear({ dataset }) {
    const clip = { url: dataset.clip, peaks: [], duration_s: 0, label: `Clip ${dataset.number}, heard again` };
    this.stage.sound.load(clip, true);
  }

  async show(row, name) {
    for (const one of this.rows) one.querySelector('.agl-go')?.setAttribute('aria-pressed', String(one === row));
    const world = await this.stage.world;
    const truth = world.nearView(L.latLng(row.dataset.lat, row.dataset.lon));
    const near = (lng) => lng + 360 * Math.round((truth.lng - lng) / 360);
    const shown = [[truth.lat, truth.lng]];
    if (row.dataset.pinLat) shown.push([Number(row.dataset.pinLat), near(Number(row.dataset.pinLon))]);
    const crowd = this.clips?.get(Number(row.dataset.number) - 1);
    this.draw(world, crowd, near);
    world.fit([...shown, ...middlesOf(crowd, near)]);
    const told = crowd?.n_others ? ` Shaded: where ${count(crowd.n_others, 'other')} placed it; the cross is their mean.` : '';
    this.note.textContent = `The map shows clip ${row.dataset.number}, ${name}.${told}`;
  }

  /** Others' pins: the more in a cell, the darker; their mean as a cross. */
  draw(world, crowd, near) {
    this.close();
    if (!crowd?.n_others) return;
    this.layer = L.layerGroup().addTo(world.map);
    const { cells, size_deg: size, mean } = crowd;
    const most = Math.max(...cells.map(({ n_pins: n }) => n));
    for (const { south, west, n_pins: n } of cells) {
      const left = near(west + size / 2) - size / 2;
      const className = `agl-heat agl-heat-${Math.ceil(SHADES * n / most)}`;
      L.rectangle([[south, left], [south + size, left + size]], { className, renderer: world.renderer() })
        .bindTooltip(count(n, 'pin')).addTo(this.layer);
    }
    if (!mean) return;
    const icon = L.divIcon({ className: 'agl-mean', html: '<span aria-hidden="true">✚</span>', iconSize: [24, 24] });
    L.marker([mean[0], near(mean[1])], { icon, keyboard: false, title: 'Mean of the others’ pins' }).addTo(this.layer);
  }
}

/** The middles of the cells, which the view shows, too. */
const middlesOf = ({ cells, size_deg: size } = { cells: [] }, near) => cells.map(({ south, west }) => [south + size / 2, near(west + size / 2)]);

/** A histogram of others' totals, in which your bar is marked. */
function figureOf({ among, n_others: n, better_than: better, bars }) {
  const who = among === 'daily' ? 'who played this daily' : 'today';
  const most = Math.max(...bars.map((bar) => bar.n_others));
  const columns = bars.map((bar) => {
    const column = make('span', { className: `agl-bar${bar.is_yours ? ' is-yours' : ''}`, title: wordsOf(bar) });
    const fill = make('span');
    fill.style.height = `${Math.round(100 * bar.n_others / most)}%`;
    column.append(fill);
    return column;
  });
  const chart = make('div', { className: 'agl-bars', ariaLabel: `Others’ totals. ${bars.filter((bar) => bar.n_others || bar.is_yours).map(wordsOf).join('; ')}.` }, ...columns);
  chart.setAttribute('role', 'img');
  const [low, high] = [bars[0].low, bars.at(-1).high].map((points) => points.toLocaleString('en'));
  const scale = make('div', { className: 'agl-bars-scale agl-muted agl-small agl-numbers', ariaHidden: 'true' },
    make('span', {}, low), make('span', {}, '▲ your total'), make('span', {}, high));
  return make('figure', { className: 'agl-others' },
    make('figcaption', {}, `Better than ${better} % of ${n.toLocaleString('en')} players ${who}`), chart, scale);
}

const wordsOf = ({ low, high, n_others: n, is_yours: isYours }) => `${low.toLocaleString('en')} to ${high.toLocaleString('en')} points: ${count(n, 'other')}${isYours ? ' and you' : ''}`;
