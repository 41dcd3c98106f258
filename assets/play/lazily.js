// Modules that are loaded when they are first needed, also after a failure: browsers remember under
// which address a module did not come.
const TRIES = 3;
const PAUSE_MS = 1000;
const failures = new Map(); // by name

/** Import the module `name` of this folder, with up to three tries. */
export async function lazily(name) {
  for (let left = TRIES; ; left -= 1) {
    const n = failures.get(name) ?? 0;
    try {
      return await import(new URL(n ? `${name}?${n}` : name, import.meta.url));
    } catch (error) {
      failures.set(name, n + 1);
      console.error(error);
      if (left <= 1) throw new Error('This part of the page could not be loaded. Try again, or reload the page.');
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}
