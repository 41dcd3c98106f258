// Buttons that copy a text. A button says "Copied" for a moment; since screen readers do not hear that
// a label has changed, a status region says so, too.
const SHOWN_MS = 1500;
const DONE = 'Copied';
const told = Object.assign(document.createElement('p'), { className: 'agl-sr-only' });
const shown = new Map(); // button -> its own label, and the timer that brings it back

told.setAttribute('role', 'status');
document.body.append(told); // before there is anything to tell: only changes are spoken

/** Copy `text` for the `button` that was pressed; without a clipboard, show it to be copied by hand. */
export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    window.prompt('Copy this:', text);
    return;
  }
  const { label, timer } = shown.get(button) ?? { label: button.textContent };
  clearTimeout(timer);
  button.textContent = DONE;
  told.textContent = DONE;
  shown.set(button, { label, timer: setTimeout(() => restore(button, label), SHOWN_MS) });
}

function restore(button, label) {
  button.textContent = label;
  shown.delete(button);
  if (!shown.size) told.textContent = '';
}
