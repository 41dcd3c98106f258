// The panorama component: Pannellum's viewer, arrows in it, and a button for each way. Its HTML is
// in ui/panorama.py.

const POINTS = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'];
const TURN = 45;
const ZOOM = 15;
// what a key does: degrees to turn right, up, and to widen the view
const KEYS = {
  ArrowLeft: [-10, 0, 0], ArrowRight: [10, 0, 0], ArrowUp: [0, 10, 0], ArrowDown: [0, -10, 0],
  '+': [0, 0, -5], '-': [0, 0, 5],
};
const ARROW = '<svg viewBox="0 0 48 48" aria-hidden="true"><path d="M24 4 44 40 24 31 4 40z"/></svg>';

/** Bind a component to its elements; returns the PanoramaView. */
export async function attach(gradio) {
  await loadScript(gradio.props.viewer);
  return new PanoramaView(gradio);
}

let loading = null;

function loadScript(address) {
  loading ??= new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = new URL(address, document.baseURI).href;
    script.onload = done;
    script.onerror = () => failed(new Error('Pannellum could not be loaded'));
    document.head.append(script);
  });
  return loading;
}

class PanoramaView {
  constructor({ element, props, trigger, watch }) {
    const find = (name) => element.querySelector(`.agl-pano-${name}`);
    Object.assign(this, {
      props, trigger, shown: null, viewer: null, busy: false,
      picture: find('picture'), note: find('note'), ways: find('ways'), element,
    });
    find('left').addEventListener('click', () => this.turn(-TURN));
    find('right').addEventListener('click', () => this.turn(TURN));
    find('in').addEventListener('click', () => this.zoom(-ZOOM));
    find('out').addEventListener('click', () => this.zoom(ZOOM));
    this.picture.addEventListener('keydown', (event) => this.onKey(event));
    watch('value', () => this.show());
    this.show();
  }

  // ---- what is shown

  show() {
    const value = this.props.value ? JSON.parse(this.props.value) : null;
    if (!value) return;
    this.setBusy(false);
    this.showButtons(value.ways);
    const isSame = this.shown?.url === value.url && this.viewer;
    const heading = this.viewer && value.keeps_looking ? this.heading() : value.middle_deg;
    const before = this.shown;
    this.shown = value;
    if (isSame) this.replaceArrows(before.ways, value.ways);
    else this.open(value, heading);
  }

  open({ url, middle_deg: middle, ways }, heading) {
    this.viewer?.destroy();
    this.say('The panorama is being fetched…', true);
    this.viewer = pannellum.viewer(this.picture, {
      type: 'equirectangular',
      panorama: new URL(url, document.baseURI).href,
      autoLoad: true,
      showControls: false,
      mouseZoom: false, // the page scrolls
      disableKeyboardCtrl: true, // its speed depends on the frame rate
      compass: true,
      northOffset: middle,
      yaw: turnTo(heading, middle),
      pitch: 0,
      hfov: this.picture.clientWidth < 600 ? 75 : 95,
      minHfov: 30,
      hotSpots: ways.map((way) => this.arrow(way)),
    });
    const { viewer } = this;
    this.picture.setAttribute('role', 'application');
    this.picture.setAttribute('aria-label',
      'Panorama. Arrow keys turn the view, plus and minus zoom. The ways are buttons below.');
    viewer.on('load', () => {
      this.say(`Looking ${pointOf(this.heading())}`);
      this.element.dispatchEvent(new Event('agl-pano-ready'));
    });
    viewer.on('error', () => {
      this.say('The panorama could not be shown: it cannot be read, or this browser lacks WebGL.', true);
    });
    viewer.on('animatefinished', () => this.tellHeading());
  }

  arrow([name, colour, direction]) {
    return {
      id: name,
      yaw: turnTo(direction, this.shown.middle_deg),
      pitch: -16,
      cssClass: 'agl-pano-arrow',
      createTooltipFunc: (spot) => {
        spot.style.setProperty('--agl-way', colour);
        spot.dataset.way = name;
        spot.title = `Go ${pointOf(direction)}`;
        spot.innerHTML = ARROW;
      },
      clickHandlerFunc: () => this.take(name),
    };
  }

  replaceArrows(before, after) {
    for (const [name] of before) this.viewer.removeHotSpot(name);
    for (const way of after) this.viewer.addHotSpot(this.arrow(way));
  }

  showButtons(ways) {
    const hadFocus = this.ways.contains(document.activeElement);
    this.ways.replaceChildren(...ways.map(([name, colour, direction]) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.dataset.way = name;
      button.style.setProperty('--agl-way', colour);
      button.textContent = `Go ${pointOf(direction)}`;
      button.addEventListener('click', () => this.take(name));
      const item = document.createElement('li');
      item.append(button);
      return item;
    }));
    if (hadFocus) (this.ways.querySelector('button') ?? this.picture).focus();
  }

  // ---- acting

  take(way) {
    if (this.busy || !this.shown?.ways.some(([name]) => name === way)) return;
    this.setBusy(true);
    this.trigger('click', { way });
  }

  setBusy(busy) {
    this.busy = busy;
    this.element.classList.toggle('agl-pano-busy', busy);
  }

  onKey(event) {
    const step = KEYS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.look(...step, false);
  }

  turn(degrees) {
    this.look(degrees, 0, 0, this.pace());
  }

  zoom(degrees) {
    this.look(0, 0, degrees, this.pace());
  }

  look(right, up, wider, pace) {
    const { viewer } = this;
    if (!viewer?.isLoaded()) return;
    const pitch = Math.max(-85, Math.min(85, viewer.getPitch() + up));
    viewer.lookAt(pitch, viewer.getYaw() + right, viewer.getHfov() + wider, pace);
  }

  pace() {
    return matchMedia('(prefers-reduced-motion: reduce)').matches ? false : 400;
  }

  // ---- in words

  heading() {
    return (this.viewer.getYaw() + this.shown.middle_deg + 720) % 360;
  }

  tellHeading() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.viewer?.isLoaded() && this.say(`Looking ${pointOf(this.heading())}`), 500);
  }

  say(text, visibly = false) {
    this.note.textContent = text;
    this.note.classList.toggle('agl-sr-only', !visibly);
  }
}

/** Degrees to turn right from one bearing to another, from -180 to 180. */
function turnTo(bearing, from) {
  return ((((bearing - from + 180) % 360) + 360) % 360) - 180;
}

const pointOf = (bearing) => POINTS[Math.round((((bearing % 360) + 360) % 360) / 45) % 8];
