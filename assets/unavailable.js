// If the server lacks what it needs, it answers 503 with a sentence. Show that, and leave the page,
// with its pin and texts, as it is; Gradio would cover its parts with the word "Error".
{
  const ask = window.fetch;
  let refused = 0;

  const tell = (sentence) => {
    document.querySelector('#agl-unavailable')?.remove();
    if (!sentence) return;
    const notice = Object.assign(document.createElement('p'), { id: 'agl-unavailable', className: 'agl-notice' });
    notice.setAttribute('role', 'alert');
    notice.textContent = sentence;
    document.body.prepend(notice); // the rest of the page may not be there yet
    notice.scrollIntoView({ block: 'nearest' });
  };

  // How many parts of the page an event changes.
  const width = (sent) => {
    const { fn_index } = JSON.parse(sent);
    return window.gradio_config.dependencies.find(({ id }) => id === fn_index).outputs.length;
  };

  const unchanged = (n) => {
    const data = Array.from({ length: n }, () => ({ __type__: 'update' }));
    return new Response(JSON.stringify({ data, is_generating: false, duration: 0, average_duration: 0 }), {
      headers: { 'Content-Type': 'application/json' },
    });
  };

  window.fetch = async (...given) => {
    const answer = await ask(...given);
    if (!answer.url.includes('/gradio_api/run/')) return answer;
    const n = width(given[1].body);
    if (answer.status !== 503) {
      if (answer.ok && n >= refused) tell(''); // not after a small event that follows the refused one
      return answer;
    }
    tell((await answer.json()).error);
    refused = n;
    return unchanged(n);
  };
}
