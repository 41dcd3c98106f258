// Keys of pages on which clips are decided on: k keeps a clip, r rejects it, 1 to 7 choose a cause,
// u takes the last decision back.
const BUTTONS = { k: 'agl-keep', r: 'agl-reject', u: 'agl-undo' };
const PATIENCE_MS = 3000;
let waiting = 0;

addEventListener('keydown', (event) => {
  const button = document.getElementById(BUTTONS[event.key.toLowerCase()] ?? `agl-choice-${event.key}`);
  if (!button || event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.('input:not([type=range]), textarea, select, [contenteditable=true]')) return;
  if (performance.now() < waiting) return; // the next clip is not shown yet
  waiting = performance.now() + PATIENCE_MS;
  button.click();
});

// A decision is answered by another status or a message.
new MutationObserver((changes) => {
  if (changes.some(({ target }) => target.closest?.('#agl-status, .agl-area-message'))) waiting = 0;
}).observe(document.documentElement, { childList: true, subtree: true });
