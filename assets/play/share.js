// Sharing a result: with the system's own sheet where there is one, else by copying.

/** The part of the page that offers a text to share, and takes it back with "". */
export class Share {
  constructor(box) {
    this.box = box;
    const [button, copy] = box.querySelectorAll('button');
    Object.assign(this, { text: box.querySelector('textarea'), told: box.querySelector('[role=status]') });
    button.addEventListener('click', () => this.share());
    copy.addEventListener('click', () => this.copy());
    copy.hidden = !canShare(); // the large button copies already
  }

  offer(text) {
    this.box.hidden = !text;
    if (this.text.value !== text) this.told.textContent = '';
    this.text.value = text;
  }

  async share() {
    if (!canShare()) return this.copy();
    try {
      await navigator.share({ text: this.text.value });
      this.told.textContent = 'Shared.';
    } catch (problem) {
      if (problem.name !== 'AbortError') await this.copy(); // closed by the player
    }
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.text.value);
      this.told.textContent = 'Copied. Paste it anywhere.';
    } catch {
      this.text.select();
      this.told.textContent = 'The text is selected: copy it with your keyboard or menu.';
    }
  }
}

const canShare = () => typeof navigator.share === 'function';
