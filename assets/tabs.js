// The address follows the tabs: a reload, a link and the browser's Back find the visible one. Arrow
// keys, Home and End move along the tabs, and each panel has the name of its tab.
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
  if (!event.target.matches?.(TABS)) return;
  const tabs = [...document.querySelectorAll(TABS)];
  const at = tabs.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  const next = tabs.at(to % tabs.length);
  event.preventDefault();
  next.focus();
  next.click();
});

// Gradio builds the tabs after this script ran, and each panel when its tab is first opened.
function namePanels() {
  const tabs = document.getElementById('agl-tabs');
  if (!tabs) return;
  building.disconnect();
  const name = () => tabs.querySelectorAll(':scope > [role=tabpanel]')
    .forEach((panel) => panel.setAttribute('aria-labelledby', `${panel.id}-button`));
  new MutationObserver(name).observe(tabs, { childList: true });
  name();
}

const building = new MutationObserver(namePanels);
building.observe(document.documentElement, { childList: true, subtree: true });
namePanels();
