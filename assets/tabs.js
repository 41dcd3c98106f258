// The address follows the tabs: a reload, a link and the browser's Back find the visible one. Arrow
// keys move along the tabs.
const TABS = '#agl-tabs [role=tab][data-tab-id]';
const named = () => new URLSearchParams(location.search).get('tab') ?? 'play';

addEventListener('click', ({ target }) => {
  const name = target.closest?.(TABS)?.dataset.tabId;
  if (!name || name === named()) return;
  const address = new URL(location.href);
  address.searchParams.set('tab', name);
  history.pushState(history.state, '', address);
});

addEventListener('popstate', () => {
  [...document.querySelectorAll(TABS)].find(({ dataset }) => dataset.tabId === named())?.click();
});

addEventListener('keydown', (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !event.target.matches?.(TABS)) return;
  const tabs = [...document.querySelectorAll(TABS)];
  const next = tabs.at((tabs.indexOf(event.target) + step) % tabs.length);
  event.preventDefault();
  next.focus();
  next.click();
});
