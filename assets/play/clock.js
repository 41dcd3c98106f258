// The clock of a round with a timer. The server measures the time; this only shows it.

const WARNINGS_S = [30, 10, 5];

export class Clock {
  /** `onEnd` is called when the time is up. */
  constructor(box, onEnd) {
    Object.assign(this, { box, onEnd, ticking: null });
    this.digits = box.querySelector('span');
    this.spoken = box.querySelector('[role=timer]');
  }

  /** Count down from `seconds`, or hide the clock if that is null. */
  run(seconds) {
    this.stop();
    this.box.hidden = seconds === null;
    if (seconds === null) return;
    this.end = performance.now() + 1000 * seconds;
    this.warnings = WARNINGS_S.filter((mark) => mark < seconds);
    this.ticking = setInterval(() => this.tick(), 200);
    this.tick();
  }

  stop() {
    clearInterval(this.ticking);
    this.ticking = null;
  }

  tick() {
    const left = Math.max(0, (this.end - performance.now()) / 1000);
    this.digits.textContent = `${Math.ceil(left)} s`;
    this.box.classList.toggle('is-short', left <= 10);
    if (left <= this.warnings[0]) this.spoken.textContent = `${this.warnings.shift()} seconds left`;
    if (left > 0) return;
    this.stop();
    this.spoken.textContent = 'The time is up';
    this.onEnd();
  }
}
