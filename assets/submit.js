// The Submit tab for keyboards and screen readers. Gradio's parts do not say whether a panel is open,
// what a choice or a dropped file is for, and which fields a list of problems is about.
const PROBLEMS = '#agl-unpublished [data-field]';

export function attachSubmit({ element }) {
  const tab = element.closest('.agl-submit-tab');
  const tell = () => {
    tab.querySelectorAll('button.label-wrap').forEach(tellPanel);
    tab.querySelectorAll('fieldset').forEach(tellChoice);
    tab.querySelector('#agl-file .upload-container')
      ?.setAttribute('aria-label', 'Prediction file: drop it here, or click to upload it');
    tellProblems(tab);
  };
  // attributes that are set here are not watched
  const watched = { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] };
  new MutationObserver(tell).observe(tab, watched);
  tab.addEventListener('input', ({ target }) => untell(target.closest('[aria-invalid]') ?? target));
  tell();
}

function tellPanel(button) {
  button.setAttribute('aria-expanded', String(button.classList.contains('open')));
  button.querySelector('.icon')?.setAttribute('aria-hidden', 'true');
}

// Radio buttons of one name are one stop of the Tab key, and arrow keys move between them.
function tellChoice(fieldset) {
  fieldset.setAttribute('role', 'radiogroup');
  fieldset.setAttribute('aria-label', fieldset.querySelector('[data-testid=block-info]').textContent.trim());
  for (const radio of fieldset.querySelectorAll('[type=radio]')) radio.name = fieldset.id;
}

// A field stays marked until it is changed, or another list of problems comes.
function tellProblems(tab) {
  const list = tab.querySelector(PROBLEMS)?.closest('ol');
  if (list?.dataset.told) return;
  tab.querySelectorAll('[aria-invalid]').forEach(untell);
  for (const problem of tab.querySelectorAll(PROBLEMS)) {
    const field = fieldOf(tab, problem.dataset.field);
    if (!field) continue;
    problem.id = `agl-problem-${problem.dataset.field}`;
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', problem.id);
  }
  if (list) list.dataset.told = 'true';
}

function fieldOf(tab, name) {
  const block = tab.querySelector(`#agl-${CSS.escape(name)}`);
  return block?.matches('fieldset') ? block : block?.querySelector('input, textarea');
}

function untell(field) {
  field.removeAttribute('aria-invalid');
  field.removeAttribute('aria-describedby');
}
