// What this browser keeps between visits. Where storage is denied, as in many embedded pages, it
// is kept in memory and forgotten when the page closes.
const memory = new Map();
const PREFIX = 'agl1k-';

/** Whether what is kept outlives the page. */
export const isLasting = (() => {
  try {
    localStorage.setItem(`${PREFIX}probe`, '');
    localStorage.removeItem(`${PREFIX}probe`);
    return true;
  } catch {
    return false;
  }
})();

/** The value kept under `name`, or `otherwise` if there is none, or none that can be read. */
export function recall(name, otherwise) {
  if (memory.has(name)) return memory.get(name);
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch { /* storage is denied or full: it stays in memory */ }
}
