// Rounds against a row of the board: the panel in which it is chosen.
import { look } from './api.js';
import { isolated, make } from './dom.js';

const GROUPS = [['scored', 'Models'], ['people', 'People'], ['baseline', 'Baselines']];

/** List the opponents of the benchmark that is chosen in `panel`, now and when it changes; `failed` gets a problem. */
export function prepare(panel, failed) {
  const { benchmark } = panel.elements;
  if (!panel.isPrepared) benchmark.addEventListener('change', () => list(panel, failed));
  panel.isPrepared = true;
  return list(panel, failed);
}

async function list(panel, failed) {
  const { benchmark, opponent } = panel.elements;
  const slug = benchmark.value;
  try {
    const { opponents } = await look(`opponents?benchmark=${encodeURIComponent(slug)}`, '');
    if (slug === benchmark.value) fillWith(opponent, opponents);
  } catch (problem) {
    failed(problem);
  }
}

function fillWith(select, opponents) {
  const chosen = select.value;
  const nobody = make('option', { value: '' }, 'Nobody has answered enough of these clips yet');
  select.replaceChildren(...(opponents.length ? groupsOf(opponents) : [nobody]));
  if (opponents.some(({ id }) => id === chosen)) select.value = chosen;
}

function groupsOf(opponents) {
  const groups = GROUPS.map(([kind, label]) => make('optgroup', { label },
    ...opponents.filter((one) => one.kind === kind).map(optionOf)));
  return groups.filter((group) => group.children.length);
}

const optionOf = ({ id, name, median_km: km }) => make('option', { value: id },
  `${isolated(name)} – median ${Math.round(km).toLocaleString('en')} km`);
