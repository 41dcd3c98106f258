// A part of the clip that is heard again and again, drawn and dragged over the waveform.
import { make } from './dom.js';

const SHORTEST_S = 0.2;
const FIRST_S = 5;
const STEP_S = 0.1;
const LEAP_S = 1;
//: A press that moves less is a click.
const STILL_PX = 6;
//: A frame before the end, so that nothing behind it is heard.
const FRAME_S = 0.02;

export class Loop {
  /** `changed` is called after every change of `part`: { start, end } in seconds, or null. */
  constructor(player, changed) {
    Object.assign(this, { player, changed, part: null });
    this.box = make('div', { className: 'agl-loop', hidden: true });
    this.band = make('div', { className: 'agl-loop-part' });
    this.handles = { start: this.handle('start', 'Beginning of the loop'), end: this.handle('end', 'End of the loop') };
    this.box.append(this.band, this.handles.start, this.handles.end);
    player.wave.after(this.box);
    this.drawOn(this.box);
    player.audio.addEventListener('ended', () => this.part && this.again(true));
  }

  /** Loop a few seconds from the current position on. */
  begin() {
    const { audio, clip } = this.player;
    if (!clip || !this.player.duration()) return;
    const start = Math.max(0, Math.min(audio.currentTime, this.player.duration() - FIRST_S));
    this.set(start, start + FIRST_S);
  }

  end() {
    this.part = null;
    this.show();
  }

  set(start, end) {
    const all = this.player.duration();
    const last = Math.max(0, Math.min(all, Math.max(start, end)));
    const first = Math.max(0, Math.min(start, end, all - SHORTEST_S));
    this.part = { start: first, end: Math.min(all, Math.max(last, first + SHORTEST_S)) };
    this.show();
  }

  /** Go back to the beginning of the part if the position has left it. */
  keepInside() {
    const { currentTime: now, seeking } = this.player.audio;
    if (!this.part || seeking) return;
    if (now >= this.part.end - FRAME_S || now < this.part.start - FRAME_S) this.again();
  }

  again(isOver = false) {
    this.player.seek(this.part.start);
    if (isOver) this.player.play();
  }

  show() {
    const { part, box, handles } = this;
    box.hidden = !part;
    if (part) {
      placePart(this.band, part, this.player.duration());
      for (const [name, handle] of Object.entries(handles)) {
        handle.style.left = `${(100 * part[name]) / this.player.duration()}%`;
        handle.setAttribute('aria-valuemax', this.player.duration().toFixed(1));
        handle.setAttribute('aria-valuenow', part[name].toFixed(1));
        handle.setAttribute('aria-valuetext', `${part[name].toFixed(1)} seconds`);
      }
    }
    this.changed();
  }

  // ---- by hand

  handle(name, label) {
    const handle = make('div', { className: `agl-loop-handle agl-loop-${name}`, tabIndex: 0 });
    for (const [key, value] of Object.entries({ role: 'slider', 'aria-label': label, 'aria-valuemin': '0' })) handle.setAttribute(key, value);
    handle.addEventListener('keydown', (event) => this.onKey(event, name));
    handle.addEventListener('pointerdown', (event) => {
      event.stopPropagation();
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener('pointermove', (event) => {
      if (handle.hasPointerCapture(event.pointerId)) this.move(name, secondsAt(this.box, event, this.player.duration()));
    });
    return handle;
  }

  onKey(event, name) {
    const by = { ArrowRight: STEP_S, ArrowUp: STEP_S, ArrowLeft: -STEP_S, ArrowDown: -STEP_S, PageUp: LEAP_S, PageDown: -LEAP_S, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.move(name, this.part[name] + by);
  }

  /** Move one end; the other one stays where it is. */
  move(name, seconds) {
    const { start, end } = this.part;
    if (name === 'start') this.set(Math.min(seconds, end - SHORTEST_S), end);
    else this.set(start, Math.max(seconds, start + SHORTEST_S));
  }

  /** Let a drag over `surface`, which is as wide as the clip, choose the part; a click seeks. */
  drawOn(surface) {
    let from = null;
    const at = (event) => secondsAt(surface, event, this.player.duration());
    surface.addEventListener('pointerdown', (event) => {
      from = event.clientX;
      surface.setPointerCapture(event.pointerId);
    });
    surface.addEventListener('pointermove', (event) => {
      if (from === null || !this.part || Math.abs(event.clientX - from) < STILL_PX) return;
      this.set(at({ clientX: from }), at(event));
    });
    surface.addEventListener('pointercancel', () => { from = null; });
    surface.addEventListener('pointerup', (event) => {
      if (from !== null && (!this.part || Math.abs(event.clientX - from) < STILL_PX)) this.player.seek(at(event));
      from = null;
    });
  }
}

/** Put the mark of a part, or of none, over something that is as wide as the clip. */
export function placePart(mark, part, duration_s) {
  mark.hidden = !part;
  if (!part) return;
  mark.style.left = `${(100 * part.start) / duration_s}%`;
  mark.style.width = `${(100 * (part.end - part.start)) / duration_s}%`;
}

function secondsAt(surface, { clientX }, duration_s) {
  const { left, width } = surface.getBoundingClientRect();
  return ((clientX - left) / width) * duration_s;
}
