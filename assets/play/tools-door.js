// What the page has of the tools before they are opened, and with which of them a clip was heard,
// remembered through a reload.
import { lazily } from './lazily.js';
import { keep, recall } from './store.js';

const TOOLS = ['loop', 'slow', 'band', 'boost', 'spectrogram']; // as in store/tools.py

/** The tools with which the clip at `url` was heard in this browser. */
export function usedOn(url) {
  const { clip, used } = recall('tools', {});
  return url && clip === url && Array.isArray(used) ? used.filter((tool) => TOOLS.includes(tool)) : [];
}

/** Remember that the clip at `url` was heard with a tool. */
export function noteUse(url, tool) {
  const used = usedOn(url);
  if (url && !used.includes(tool)) keep('tools', { clip: url, used: [...used, tool] });
}

/** Load the tools in `element` for a player when they are first opened. */
export function openTools(element, player) {
  const note = element.querySelector('[data-part=note]');
  const load = async () => {
    element.removeEventListener('toggle', load, true);
    try {
      const { attach } = await lazily('./tools.js');
      note.textContent = '';
      await attach(element, player);
    } catch (error) {
      console.error(error);
      note.textContent = 'The tools could not be loaded. Close and open them to try again, or reload the page.';
      element.addEventListener('toggle', load, true);
    }
  };
  element.addEventListener('toggle', load, true); // it does not bubble
}
