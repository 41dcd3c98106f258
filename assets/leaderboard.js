// The board in the browser: it gets HTML from the server, updates the page's address, opens rows.
// Every view has an address, so that a reload, a bookmark or a shared link shows the same.
import { copy } from './copying.js';
import { LOST, Problem, problemOf, reach } from './reach.js';

const SEARCH_PAUSE_MS = 150;
const ONE_VALUE = ['board', 'subset', 'rank_by', 'search', 'weights', 'min_coverage', 'as_of'];
const OWN = new Set([...ONE_VALUE, 'tab', 'sort', 'reverse', 'kinds', 'columns', 'intervals', 'latest', 'tools', 'page', 'row', 'other', 'answered']);
const ROW_CLOSED = 'agl-row-closed';
const ROW_COMPARED = 'agl-row-compared';

const api = (path) => new URL(`api/leaderboard/${path}`, document.baseURI);

function ownPart(search) {
  return new URLSearchParams([...new URLSearchParams(search)].filter(([name]) => OWN.has(name)));
}

function setAddress(query, { step = false } = {}) {
  const others = [...new URLSearchParams(location.search)].filter(([name]) => !OWN.has(name));
  const search = new URLSearchParams([...others, ...new URLSearchParams(query)]);
  const address = `?${search}${location.hash}`;
  if (step) history.pushState(history.state, '', address);
  else history.replaceState(history.state, '', address);
}

function fragment(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/** The board as a query shows it; a `Problem` is thrown. */
async function pageOf(query, signal) {
  const answer = await reach(api(`page?${query}`), { signal });
  if (!answer.ok) throw problemOf(answer, await answer.json().catch(() => null));
  const page = fragment(await answer.text().catch(() => ''));
  if (!page?.matches('.agl-board')) throw new Problem(LOST, 0);
  return page;
}

class BoardPage {
  constructor({ element, trigger }) {
    this.host = element.querySelector('.agl-board-host');
    this.trigger = trigger;
    this.query = ownPart(location.search);
    this.host.addEventListener('click', (event) => this.clicked(event));
    this.host.addEventListener('submit', (event) => event.preventDefault());
    this.host.addEventListener('change', (event) => {
      if (event.target.type !== 'search') this.changed(event, 0);
    });
    this.host.addEventListener('input', (event) => {
      if (event.target.type === 'search') this.changed(event, SEARCH_PAUSE_MS);
    });
    document.addEventListener('click', (event) => this.closePanels(event.target));
    this.host.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.target.closest('details[open]')?.querySelector('summary').focus();
      this.closePanels(null);
    });
    document.addEventListener(ROW_CLOSED, () => this.closed());
    document.addEventListener(ROW_COMPARED, (event) => this.note(event.detail));
    window.addEventListener('popstate', () => this.stepped());
    new IntersectionObserver((seen) => this.seen(seen.at(-1))).observe(this.host);
  }

  get board() { return this.host.querySelector('.agl-board'); }

  // The board is loaded whenever its tab is opened.
  seen(entry) {
    if (!entry.boundingClientRect.width) this.fresh = false;
    else if (entry.isIntersecting && !this.fresh) {
      this.fresh = true;
      this.show();
    }
  }

  async show({ whole = false, address = false } = {}) {
    this.request?.abort();
    const { signal } = this.request = new AbortController();
    const first = !this.board;
    try {
      const page = await pageOf(this.query, signal);
      if (signal.aborted) return;
      this.put(page, whole);
    } catch (problem) {
      if (!signal.aborted) this.failed(problem);
      return;
    }
    this.query = new URLSearchParams(this.board.dataset.query);
    if (address) setAddress(this.query);
    if (first && this.query.get('row')) this.open(this.query.get('row'), this.query, { step: false });
  }

  // The controls are not replaced, so that typing is not interrupted.
  put(next, whole) {
    const current = this.board;
    if (whole || !current || current.dataset.board !== next.dataset.board) {
      this.host.replaceChildren(next);
      return;
    }
    const { sort, open } = document.activeElement?.dataset ?? {};
    const scrolled = current.querySelector('.agl-table-box')?.scrollLeft ?? 0;
    Object.assign(current.dataset, next.dataset);
    current.querySelector('.agl-results').replaceWith(next.querySelector('.agl-results'));
    current.querySelector('summary').textContent = next.querySelector('summary').textContent;
    current.querySelector('[data-download]').href = next.querySelector('[data-download]').href;
    current.querySelector('.agl-table-box').scrollLeft = scrolled;
    if (sort) current.querySelector(`[data-sort="${CSS.escape(sort)}"]`)?.focus();
    if (open) current.querySelector(`tr [data-open="${CSS.escape(open)}"]`)?.focus();
  }

  failed({ message }) {
    const note = fragment('<div class="agl-error" role="alert"><strong>The board could not be loaded.</strong> <span></span> <button type="button" class="agl-link" data-again>Try again</button></div>');
    note.querySelector('span').textContent = message;
    (this.board?.querySelector('.agl-results') ?? this.host).replaceChildren(note);
  }

  changed(event, pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (event.target.name === 'board') {
        this.query = new URLSearchParams();
        this.trigger('clear');
      }
      this.read();
      this.show({ address: true });
    }, pause);
  }

  closePanels(except) {
    for (const panel of this.host.querySelectorAll('form details[open]')) {
      if (!panel.contains(except)) panel.open = false;
    }
  }

  read() {
    const form = new FormData(this.board.querySelector('form'));
    for (const name of ONE_VALUE) this.query.set(name, form.get(name) ?? '');
    const boxes = [...this.board.querySelectorAll('[name=kinds]')];
    const kinds = form.getAll('kinds');
    if (!kinds.length) for (const box of boxes) box.checked = true;
    this.query.set('kinds', kinds.length === boxes.length ? '' : kinds.join(','));
    this.query.set('columns', form.getAll('columns').join(','));
    this.query.set('intervals', form.has('intervals') ? '1' : '0');
    this.query.set('latest', form.has('latest') ? '1' : '0');
    this.query.set('tools', form.has('tools') ? '1' : '0');
    this.query.delete('page');
  }

  clicked(event) {
    const at = (selector) => event.target.closest(selector);
    const button = at('button');
    if (button?.dataset.sort) this.sort(button.dataset.sort);
    else if (button?.dataset.page) this.turn(button.dataset.page);
    else if (button?.hasAttribute('data-reset')) this.go(button.dataset.reset);
    else if (button?.hasAttribute('data-again')) this.show({ whole: true });
    else if (button?.hasAttribute('data-copy')) this.copyLink(button);
    else if (button?.dataset.open) this.open(button.dataset.open);
    else if (!at('a') && !String(getSelection())) {
      const row = at('tr[data-row]');
      if (row) this.open(row.dataset.row);
    }
  }

  sort(name) {
    if (name === this.board.dataset.sorted) {
      if (this.query.get('reverse')) this.query.delete('reverse');
      else this.query.set('reverse', '1');
    } else {
      this.query.set('sort', name);
      this.query.delete('reverse');
    }
    this.query.delete('page');
    this.show({ address: true });
  }

  async turn(page) {
    this.query.set('page', page);
    await this.show({ address: true });
    this.host.querySelector('.agl-count')?.scrollIntoView({ block: 'start' });
  }

  go(query) {
    this.query = new URLSearchParams(query);
    this.show({ whole: true, address: true });
  }

  copyLink(button) {
    const link = new URL(location.href);
    link.search = this.board.dataset.query;
    copy(String(link), button);
  }

  // An opened row takes the table's place and has its own address; Back returns to the table.
  open(row, compared = new URLSearchParams(), { step = true } = {}) {
    const other = compared.get('other') ?? '';
    const answered = compared.get('answered') === '1';
    this.scrolled = window.scrollY;
    this.note({ row, other, answered: answered ? '1' : '' }, { step });
    this.trigger('select', { board: this.board.dataset.board, row_id: row, other, answered });
  }

  // Put the opened row into query and address; the table is not changed.
  note(values, options) {
    for (const [name, value] of Object.entries(values)) {
      if (value) this.query.set(name, value);
      else this.query.delete(name);
    }
    this.board.dataset.query = String(this.query);
    this.host.classList.toggle('agl-behind-row', this.query.has('row'));
    setAddress(this.query, options);
  }

  closed() {
    const row = this.query.get('row');
    this.note({ row: '', other: '', answered: '' });
    window.scrollTo({ top: this.scrolled ?? 0 });
    this.board.querySelector(`tr [data-open="${CSS.escape(row ?? '')}"]`)?.focus({ preventScroll: true });
  }

  stepped() {
    if (!this.board) return;
    const before = this.query.get('row');
    const now = ownPart(location.search);
    if (now.get('row') === before) return;
    if (now.get('row')) this.open(now.get('row'), now, { step: false });
    else if (before) {
      this.trigger('clear');
      this.closed();
    }
  }
}

export function attachBoard(component) { return new BoardPage(component); }

// The details of a row, and comparisons: closing, comparing, and where the focus goes.
export function attachDetail({ element, trigger, watch }) {
  const goThere = () => {
    const title = element.querySelector('h2, h3[tabindex], .agl-published');
    if (!title) return;
    title.focus({ preventScroll: true });
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    element.scrollIntoView({ block: 'start', behavior: still ? 'auto' : 'smooth' });
  };
  watch('value', goThere);
  goThere(); // a component that was hidden is created with its value
  element.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button?.hasAttribute('data-close')) {
      trigger('clear');
      document.dispatchEvent(new Event(ROW_CLOSED));
    } else if (button?.dataset.copyText) copy(button.dataset.copyText, button);
  });
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const { board, row } = event.target.closest('.agl-detail').dataset;
    const form = new FormData(event.target);
    const other = form.get('other');
    const answered = form.has('answered');
    const detail = { other, answered: answered ? '1' : '' };
    document.dispatchEvent(new CustomEvent(ROW_COMPARED, { detail }));
    trigger('submit', { board, row_id: row, other, answered });
  });
}

// Receipts hold the only copy of a key: they stay, also when others come, until they are dismissed.
export function attachReceipts({ element, watch }) {
  const kept = document.createElement('div');
  kept.className = 'agl-receipts';
  (element.closest('#agl-receipt') ?? element).before(kept);
  const keep = () => {
    const receipt = element.querySelector('[data-receipt]');
    if (!receipt) return;
    const id = receipt.dataset.receipt;
    if (kept.querySelector(`[data-receipt="${CSS.escape(id)}"]`) || keep.seen?.has(id)) return;
    (keep.seen ??= new Set()).add(id);
    const copied = receipt.cloneNode(true);
    kept.prepend(copied);
    copied.focus({ preventScroll: true });
    copied.scrollIntoView({ block: 'nearest' });
  };
  watch('value', () => requestAnimationFrame(keep));
  keep();
  kept.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    const receipt = event.target.closest('[data-receipt]');
    if (!button || !receipt) return;
    if (button.dataset.copyText) copy(button.dataset.copyText, button);
    else if (button.hasAttribute('data-dismiss')) receipt.remove();
    else if (button.hasAttribute('data-save-receipt')) saveReceipt(receipt);
  });
  window.addEventListener('beforeunload', (event) => {
    if (kept.querySelector('[data-key]')) event.preventDefault();
  });
}

function saveReceipt(receipt) {
  const id = receipt.dataset.receipt;
  const key = receipt.querySelector('[data-key]').textContent;
  const text = `AGL1K, ${location.origin}\nSubmission: ${id}\nWithdrawal key: ${key}\n`;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = `agl1k-submission-${id.slice(0, 8)}.txt`;
  link.click();
  URL.revokeObjectURL(link.href);
}
