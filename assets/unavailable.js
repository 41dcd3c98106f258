// If the server lacks what it needs, it answers 503 with a sentence. Show that, and leave the page,
// with its pin and texts, as it is; Gradio would cover its parts with the word "Error".
{
  const ask = window.fetch;

  const tell = (sentence) => {
    document.querySelector('#agl-unavailable')?.remove();
    if (!sentence) return;
    const notice = Object.assign(document.createElement('p'), { id: 'agl-unavailable', className: 'agl-notice' });
    notice.setAttribute('role', 'alert');
    notice.textContent = sentence;
    document.querySelector('#agl-tabs').before(notice);
    notice.scrollIntoView({ block: 'nearest' });
  };

  const unchanged = (sent) => {
    const asked = JSON.parse(sent);
    const event = window.gradio_config.dependencies.find((found) => found.id === asked.fn_index);
    const data = event.outputs.map(() => ({ __type__: 'update' }));
    return new Response(JSON.stringify({ data, is_generating: false, duration: 0, average_duration: 0 }), {
      headers: { 'Content-Type': 'application/json' },
    });
  };

  window.fetch = async (...given) => {
    const answer = await ask(...given);
    if (!answer.url.includes('/gradio_api/run/')) return answer;
    if (answer.status !== 503) {
      if (answer.ok) tell('');
      return answer;
    }
    tell((await answer.json()).error);
    return unchanged(given[1].body);
  };
}
