// The first round begins before Gradio has built the page; Gradio is loaded after its map and sound.
import { begin } from './stage.js';

const view = document.getElementById('agl-early');
if (view && !view.hidden) {
  const stage = begin();
  Promise.allSettled([stage.mapped, stage.heard]).then(() => dispatchEvent(new Event('agl-gradio')));
}
