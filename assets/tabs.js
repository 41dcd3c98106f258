// The address follows the tabs, so that a reload or a link opens the visible one.
addEventListener('click', ({ target }) => {
  const tab = target.closest?.('#agl-tabs [role=tab][data-tab-id]');
  if (!tab) return;
  const address = new URL(location.href);
  address.searchParams.set('tab', tab.dataset.tabId);
  history.replaceState(history.state, '', address);
});
