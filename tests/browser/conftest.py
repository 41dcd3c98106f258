"""What the browser tests share: a server for an app, and pages of a real Chromium.

    def test_title(serve, new_page):
        url = serve(app)                       # any ASGI app, on a free port, in a thread
        page = new_page(width=390, touch=True, dark=True)
        page.goto(url)

Every page fails its test when it requests anything outside 127.0.0.1, or when its scripts raise.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.support.faulty_proxy import FaultyProxy, faulty_proxy
from tests.support.served import served
from tests.support.waiting import PATIENCE_S

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 1000 * PATIENCE_S
expect.set_options(timeout=PATIENCE_MS)

Serve = Callable[[Any], str]
NewPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests of a module.

    Its loop runs in this thread as long as it lives, and tests of other modules need their own.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Run an ASGI app on a free port of 127.0.0.1; yields its URL with a slash at the end."""
    with served(app, shutdown_s=1) as url:
        yield f"{url}/"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """``serve(app)`` runs an app until the test ends and returns its URL."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(running(app))


@pytest.fixture(scope="module")
def serve_module() -> Iterator[Serve]:
    """Like ``serve``, for an app that all tests of a module share."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(running(app))


@pytest.fixture(scope="module")
def url(app: FastAPI) -> Iterator[str]:
    """The address of a module's ``app``, while it runs."""
    with running(app) as address:
        yield address


@pytest.fixture
def proxy(url: str) -> Iterator[FaultyProxy]:
    """A proxy in front of a module's ``app``. Modules use it before ``page``, so that it ends after
    the page, which may still be loading."""
    with faulty_proxy(url) as started:
        yield started


def outside(url: str) -> bool:
    """Whether a request for ``url`` would leave this machine."""
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about") and parts.hostname != "127.0.0.1"


@pytest.fixture
def outside_requests() -> Iterator[list[str]]:
    """URLs outside 127.0.0.1 that this test's pages asked for; there must be none."""
    asked: list[str] = []
    yield asked
    assert not asked, f"requests that leave 127.0.0.1: {asked}"


@pytest.fixture
def page_errors() -> Iterator[list[str]]:
    """Exceptions of this test's pages; a test that provokes one clears the list."""
    errors: list[str] = []
    yield errors
    assert not errors, f"errors in the page: {errors}"


@pytest.fixture
def new_page(
    browser: Browser, outside_requests: list[str], page_errors: list[str]
) -> Iterator[NewPage]:
    """``new_page(width=1280, height=900, touch=False, dark=False, **context)`` opens a page.

    Each is a visitor of its own (own storage). ``context`` goes to Playwright's ``new_context``,
    e.g. ``reduced_motion="reduce"``.
    """
    with ExitStack() as stack:

        def watch(request: Request) -> None:
            if outside(request.url):
                outside_requests.append(request.url)

        def make(
            width: int = 1280,
            height: int = 900,
            touch: bool = False,
            dark: bool = False,
            **context: Any,
        ) -> Page:
            made = stack.enter_context(
                browser.new_context(
                    viewport={"width": width, "height": height},
                    has_touch=touch,
                    is_mobile=touch,
                    color_scheme="dark" if dark else "light",
                    **context,
                )
            )
            made.set_default_timeout(PATIENCE_MS)
            made.on("request", watch)
            made.on("weberror", lambda error: page_errors.append(str(error.error)))
            return made.new_page()

        yield make


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """A page of 1280 by 900 pixels, light, with a mouse."""
    return new_page()


def unfaded(page: Page) -> Page:
    """Wait until nothing fades or moves: axe judges colours as they are at the moment."""
    page.wait_for_function(
        """() => document.getAnimations().every(({ playState, effect }) =>
          playState !== 'running' || effect.getComputedTiming().iterations === Infinity)"""
    )
    return page
