// A button, and the key f, that give the map the whole window; Escape gives it back.
// Leaflet is the global L.

const ICON = '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">'
  + '<path class="agl-icon-grow" d="M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7"/><path class="agl-icon-shrink" d="M20 10h-6V4M14 10l7-7M4 14h6v6M10 14l-7 7"/></svg>';

/** Add the button to a Leaflet map; `frame` holds the map, and all that belongs on it. */
export function addExpansion(map, frame) {
  const bar = L.DomUtil.create('div', 'leaflet-bar leaflet-control');
  const button = L.DomUtil.create('button', 'agl-expand', bar);
  Object.assign(button, { type: 'button', innerHTML: ICON });
  const set = (isWide) => {
    frame.classList.toggle('agl-map-wide', isWide);
    document.documentElement.classList.toggle('agl-has-wide-map', isWide);
    // there the result has a scroll bar, which keys must reach
    const result = frame.querySelector('.agl-area-result');
    if (isWide) result?.setAttribute('tabindex', 0);
    else result?.removeAttribute('tabindex');
    button.setAttribute('aria-pressed', isWide);
    button.setAttribute('aria-label', 'Map in the whole window');
    button.title = isWide ? 'Smaller map (Escape)' : 'Map in the whole window (f)';
  };
  const isWide = () => frame.classList.contains('agl-map-wide');
  set(false);
  L.DomEvent.disableClickPropagation(bar);
  button.addEventListener('click', () => set(!isWide()));
  addEventListener('keydown', (event) => {
    if (!frame.offsetParent && !isWide()) return; // in a hidden tab
    if (event.key === 'Escape' && isWide() && !event.defaultPrevented) set(false);
    else if (isShortcut(event)) set(!isWide());
  });
  const Control = L.Control.extend({ onAdd: () => bar });
  new Control({ position: 'bottomleft' }).addTo(map);
}

function isShortcut({ key, repeat, isComposing, ctrlKey, metaKey, altKey, target }) {
  if (key.toLowerCase() !== 'f' || repeat || isComposing || ctrlKey || metaKey || altKey) return false;
  return !target.closest?.('input:not([type=range]), textarea, select, [contenteditable=true]');
}
