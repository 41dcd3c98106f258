// Finding a place by its name: a field over the map, and the places that the server finds.
import { jsonOf, reach } from '../reach.js';
import { make } from './dom.js';

const PAUSE_MS = 150;
const PATIENCE_MS = 20_000;

/** A field in `box`; `goTo(latitude, longitude, across, name)` shows a place on the map. */
export class Search {
  constructor(box, goTo) {
    Object.assign(this, { goTo, found: [], chosen: -1, asked: 0 });
    this.field = make('input', {
      type: 'text', role: 'combobox', placeholder: 'Find a place', autocomplete: 'off', maxLength: 80, ariaLabel: 'Find a place on the map', ariaExpanded: 'false' });
    this.field.setAttribute('aria-controls', 'agl-search-list');
    this.field.setAttribute('aria-autocomplete', 'list');
    this.list = make('ul', { id: 'agl-search-list', role: 'listbox', hidden: true, ariaLabel: 'Places' });
    this.told = make('p', { className: 'agl-sr-only', role: 'status' });
    box.replaceChildren(this.field, this.list, this.told);
    // what is typed or pressed here is not for the map
    for (const event of ['keydown', 'pointerdown', 'click', 'dblclick', 'wheel']) {
      box.addEventListener(event, (given) => given.stopPropagation());
    }
    this.listen();
  }

  listen() {
    const { field, list } = this;
    field.addEventListener('focus', () => find('').catch(() => {}), { once: true }); // the server gets ready
    field.addEventListener('input', () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.look(), PAUSE_MS);
    });
    field.addEventListener('keydown', (event) => this.onKey(event));
    field.addEventListener('blur', () => this.close());
    list.addEventListener('pointerdown', (event) => event.preventDefault()); // keeps the focus
    list.addEventListener('click', ({ target }) => {
      const option = target.closest('[role=option]');
      if (option) this.take([...list.children].indexOf(option));
    });
  }

  async look() {
    const text = this.field.value.trim();
    const turn = this.asked += 1;
    let problem = null;
    const found = text ? await find(text).catch((why) => { problem = why; return []; }) : [];
    if (turn !== this.asked) return; // something else was typed meanwhile
    this.found = found;
    this.list.replaceChildren(...found.map(optionOf));
    this.choose(-1);
    this.open(found.length > 0);
    if (problem) return this.say(`${problem.message} Press Enter to search again, or find the place on the map.`);
    this.say(!text ? '' : found.length ? `${found.length} place${found.length > 1 ? 's' : ''}` : `No place is called “${text}”.`);
  }

  onKey(event) {
    const { key } = event;
    const n = this.found.length;
    if (key === 'Escape') {
      if (this.list.hidden) this.field.value = '';
      return this.close();
    }
    if (key === 'Enter') {
      event.preventDefault();
      return this.list.hidden || !n ? this.look() : this.take(Math.max(0, this.chosen));
    }
    if (!n || !['ArrowDown', 'ArrowUp'].includes(key)) return;
    event.preventDefault();
    this.open(true);
    this.choose((this.chosen + (key === 'ArrowDown' ? 1 : this.chosen < 0 ? 0 : -1) + n) % n);
  }

  choose(number) {
    this.chosen = number;
    [...this.list.children].forEach((option, i) => option.setAttribute('aria-selected', String(i === number)));
    const option = this.list.children[number];
    if (option) this.field.setAttribute('aria-activedescendant', option.id);
    else this.field.removeAttribute('aria-activedescendant');
    option?.scrollIntoView({ block: 'nearest' });
  }

  take(number) {
    const { name, where, latitude, longitude, across } = this.found[number];
    this.field.value = [name, where].filter(Boolean).join(', ');
    this.close();
    this.say('');
    this.goTo(latitude, longitude, across, this.field.value);
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    this.field.ariaExpanded = String(isOpen);
  }

  close() {
    clearTimeout(this.waiting);
    this.asked += 1;
    this.open(false);
    this.choose(-1);
  }

  /** What is not in the list is told to everybody, its length to screen readers only. */
  say(text) {
    this.told.textContent = text;
    this.told.classList.toggle('agl-sr-only', this.found.length > 0 || !text);
  }
}

/** The places whose names begin with a text; a `Problem` is thrown. */
async function find(text) {
  const address = new URL(`api/places?q=${encodeURIComponent(text)}`, document.baseURI);
  return jsonOf(await reach(address, {}, { patience_ms: PATIENCE_MS }));
}

function optionOf({ name, where }, number) {
  const option = make('li', { id: `agl-place-${number}`, role: 'option' }, make('span', {}, name));
  if (where) option.append(make('span', { className: 'agl-muted' }, where));
  return option;
}
