// Written into the head of the page. If a script or style of it does not come, the page is loaded
// again: once by itself as long as nobody has done anything, then by a button.
{
  const PATIENCE_S = 20;
  const AGAIN_MS = 60_000;
  const KEY = 'agl1k-reloaded';
  const LOST = 'Part of the page could not be loaded. Nothing you have answered is lost: reload the page to go on.';
  const LATE = 'Part of the page is still loading. Nothing you have answered is lost: wait, or reload the page.';
  const FAILED_IMPORT = /dynamically imported module|module script failed|preload CSS/i;
  let notice = null;
  let quiet_s = 0;
  let isTouched = false;
  let isLost = false;

  const tell = (sentence) => {
    // nothing is drawn before all styles have come
    for (const link of document.querySelectorAll('head link[rel=stylesheet]')) if (!link.sheet) link.remove();
    if (!document.body) return addEventListener('DOMContentLoaded', () => tell(sentence));
    notice?.remove();
    const reload = Object.assign(document.createElement('button'), { type: 'button', className: 'agl-button', textContent: 'Reload the page' });
    reload.addEventListener('click', () => location.reload());
    notice = Object.assign(document.createElement('p'), { id: 'agl-lost', className: 'agl-notice agl-overlay' });
    notice.setAttribute('role', 'alert');
    notice.append(sentence, ' ', reload);
    document.body.prepend(notice);
  };

  /** Whether the page may be loaded again by itself: not in a loop, and not under somebody's hands. */
  const mayReload = () => {
    try {
      const isRecent = Date.now() - Number(sessionStorage.getItem(KEY)) < AGAIN_MS;
      if (isRecent || isTouched) return false;
      sessionStorage.setItem(KEY, Date.now());
      return true;
    } catch {
      return false; // nothing can be stored, so that nothing would end a loop
    }
  };

  const isComplete = () => {
    const stage = document.querySelector('#agl-play');
    return document.querySelector('gradio-app main') && !document.querySelector('gradio-app .load-text')
      && (!stage || 'begun' in stage.dataset);
  };

  const watch = setInterval(() => {
    if (isComplete()) {
      clearInterval(watch);
      notice?.remove();
    } else if (!notice && (quiet_s += 1) > PATIENCE_S) tell(LATE);
  }, 1000);

  const lose = () => {
    if (isLost) return;
    isLost = true;
    clearInterval(watch);
    if (mayReload()) setTimeout(() => location.reload(), 1000);
    else tell(LOST);
  };

  for (const event of ['pointerdown', 'keydown']) addEventListener(event, () => { isTouched = true; }, true);
  addEventListener('error', ({ target }) => {
    if (target.matches?.('script, link[rel=stylesheet]')) lose();
    // Firefox says this of modules that it has already, too
    else if (target.matches?.('link[rel=modulepreload]')) import(target.href).catch(lose);
  }, true); // it does not bubble
  addEventListener('unhandledrejection', ({ reason }) => {
    if (FAILED_IMPORT.test(reason?.message)) lose();
  });
  new PerformanceObserver(() => { quiet_s = 0; }).observe({ type: 'resource' });
}
