"""A page that waits for less long than it would, behind a proxy that fails for a while."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.support.faulty_proxy import FaultyProxy

#: The page waits for less long, but still a second before it tries again. From `isPatient` on, it
#: waits for answers as long as ever: a busy machine is slow.
HASTY = """
const [interval, later] = [setInterval, setTimeout];
AbortSignal.timeout = (ms) => {
  const controller = new AbortController();
  later(() => window.isPatient || controller.abort(), 4000);
  later(() => controller.abort(), ms);
  return controller.signal;
};
window.setInterval = (call, ms, ...given) => interval(call, ms / 10, ...given);
window.setTimeout = (call, ms, ...given) => later(call, ms > 5000 ? ms / 10 : ms, ...given);
"""


def heal(page: Page, proxy: FaultyProxy) -> None:
    """Forward everything from now on, and have the page wait for it."""
    proxy.heal()
    page.add_init_script("window.isPatient = true")  # after a reload, too
    page.evaluate("window.isPatient = true")
