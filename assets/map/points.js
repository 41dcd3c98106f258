// Many short lines from true places to predicted ones, on one canvas, with a tooltip for the
// nearest. Leaflet is the global L.
import { CanvasLayer, worldX, worldY } from './basemap.js';

const SHADES = 8;
const REACH_PX = 12;

/** A layer for ``points`` as ui.worldmap.points_command sends them; ``colour`` reads the theme. */
export function pointsLayer(points, colour) {
  const lines = points.map(lineOf);
  const layer = new CanvasLayer({ pane: 'overlayPane', padding: 0.2, draw: (...view) => paint(lines, colour, ...view) });
  layer.on('add', () => layer.own = hover(layer._map, lines));
  layer.on('remove', () => layer.own());
  return layer;
}

function lineOf(point) {
  const { latitude, longitude, to_latitude: lat, to_longitude: lng, label, colour_value: value } = point;
  const x = worldX(longitude);
  const toX = worldX(lng);
  const shade = Math.round(Math.max(0, Math.min(1, value ?? 0)) * (SHADES - 1));
  return {
    x, y: worldY(latitude), toX: toX + Math.round(x - toX), toY: worldY(lat),
    label, shade, at: [latitude, longitude] };
}

function paint(lines, colour, context, view) {
  const halo = colour('halo');
  for (let shade = 0; shade < SHADES; shade++) {
    const ink = inkOf(shade / (SHADES - 1), colour);
    const [strokes, dots] = [new Path2D(), new Path2D()];
    for (const line of lines) if (line.shade === shade) trace(strokes, dots, line, view);
    Object.assign(context, { strokeStyle: ink, lineWidth: 1.1, globalAlpha: 0.4 });
    context.stroke(strokes);
    Object.assign(context, { fillStyle: ink, strokeStyle: halo, lineWidth: 1, globalAlpha: 0.9 });
    context.stroke(dots);
    context.fill(dots);
  }
}

/** Good, middling, bad: mixed on either side of the middle, so that no shade turns to mud. */
function inkOf(share, colour) {
  const [from, to, part] = share < 0.5 ? ['good', 'middling', share * 2] : ['middling', 'bad', share * 2 - 1];
  return `color-mix(in oklab, ${colour(to)} ${Math.round(100 * part)}%, ${colour(from)})`;
}

function trace(strokes, dots, line, { bounds, turns, toX, toY }) {
  const [top, toTop] = [toY(line.y), toY(line.toY)];
  for (const turn of [turns[0] - 1, ...turns, turns.at(-1) + 1]) {
    const [left, toLeft] = [toX(line.x, turn), toX(line.toX, turn)];
    const away = Math.max(left, toLeft) < bounds.min.x || Math.min(left, toLeft) > bounds.max.x;
    if (away) continue;
    strokes.moveTo(left, top);
    strokes.lineTo(toLeft, toTop);
    dots.moveTo(left + 2.6, top);
    dots.arc(left, top, 2.6, 0, 2 * Math.PI);
  }
}

/** Shows the label of the true place under the pointer; returns a function that stops it. */
function hover(map, lines) {
  const tip = L.tooltip({ className: 'agl-tip', direction: 'top', offset: [0, -6] });
  const move = ({ latlng }) => {
    const found = nearest(lines, latlng, 256 * 2 ** map.getZoom());
    if (!found) return tip.remove();
    const [lat, lng] = found.at;
    const text = document.createElement('span');
    text.textContent = found.label;
    return tip.setContent(text).setLatLng([lat, lng + 360 * Math.round((latlng.lng - lng) / 360)]).openOn(map);
  };
  map.on('mousemove click', move);
  return () => map.off('mousemove click', move) && tip.remove();
}

function nearest(lines, { lat, lng }, scale) {
  const [x, y] = [worldX(lng), worldY(lat)];
  let [best, reach] = [null, REACH_PX / scale];
  for (const line of lines) {
    const across = x - line.x;
    const distance = Math.hypot(across - Math.round(across), y - line.y);
    if (line.label && distance < reach) [best, reach] = [line, distance];
  }
  return best;
}
