// Written into the page behind the first view (ui/early.py), which is seen until Gradio has built
// the page. Gradio's own tags are in a template until then.
{
  const PATIENCE_MS = 12_000;
  const limit = setTimeout(() => dispatchEvent(new Event('agl-gradio')), PATIENCE_MS);
  const view = document.getElementById('agl-early');
  const address = new URL(location.href);
  const theme = address.searchParams.get('__theme');
  const isDark = ['dark', 'light'].includes(theme) ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.body.classList.toggle('dark', isDark);

  const loadGradio = () => {
    clearTimeout(limit);
    const tags = document.getElementById('agl-gradio')?.content;
    if (!tags) return addEventListener('DOMContentLoaded', loadGradio);
    for (const script of tags.querySelectorAll('script')) script.async = false; // in their order
    // before our style sheets, which change what Gradio's say
    document.head.prepend(...tags.querySelectorAll('link[href^="./assets/"]'));
    document.head.append(tags);
  };

  /** Another tab is to be seen: the stage, which may be playing, waits for its own. */
  const leave = () => {
    view.hidden = true;
    dispatchEvent(new Event('agl-gradio'));
  };

  addEventListener('agl-gradio', loadGradio, { once: true });
  view.querySelector('[role=tablist]').addEventListener('click', ({ target }) => {
    const name = target.closest('[role=tab][aria-selected=false]')?.dataset.tabId;
    if (!name) return;
    address.searchParams.set('tab', name);
    history.pushState(history.state, '', address);
    leave();
  });
  const named = address.searchParams.get('tab');
  if (view.querySelector(`[data-tab-id="${CSS.escape(named ?? '')}"][aria-selected=false]`)) leave();
}
