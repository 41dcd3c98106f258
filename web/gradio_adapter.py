"""The only module that uses internals of Gradio, so that an upgrade is checked in one place.

Everywhere else, only ``import gradio as gr`` is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

# read whenever a page is built
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from fastapi import FastAPI
from gradio import oauth, utils
from gradio.context import LocalContext
from gradio.data_classes import FileData, ListFiles
from gradio.route_utils import STATIC_PATH_LIB, FnIndexInferError
from gradio.routes import App
from starlette.middleware import Middleware
from starlette.types import ASGIApp

__all__ = [
    "LOGIN_KEY",
    "STATIC_FOLDER",
    "UnknownEndpointError",
    "FileData",
    "ListFiles",
    "gradio_apps",
    "add_innermost",
    "end_streams",
    "is_login_configured",
    "leave_event",
    "treat_as_launched",
    "upload_folder",
    "upload_into",
]

#: Files that Gradio's page loads from ``/static``.
STATIC_FOLDER = Path(STATIC_PATH_LIB)

#: The key of a login in the session, which is a signed cookie.
LOGIN_KEY = "oauth_info"

#: Raised for a request that names no endpoint of the page.
UnknownEndpointError = FnIndexInferError


def gradio_apps(app: FastAPI) -> Iterator[App]:
    """The apps of the pages that are mounted in ``app``."""
    for route in app.routes:
        if isinstance(inner := getattr(route, "app", None), App):
            yield inner


def add_innermost(page: App, middleware: Callable[[ASGIApp], ASGIApp]) -> None:
    """Put a middleware inside all others of a page, where the session has already been read."""
    page.user_middleware.append(Middleware(middleware))


def end_streams(app: FastAPI) -> None:
    """End the event streams of open pages, because a server waits for every request to end."""
    for page in gradio_apps(app):
        page.stop_event.set()


def is_login_configured() -> bool:
    """Whether this is a Space, and Hugging Face has set everything that signing in needs."""
    needed = (
        utils.get_space(),
        oauth.OAUTH_CLIENT_ID,
        oauth.OAUTH_CLIENT_SECRET,
        oauth.OAUTH_SCOPES,
        oauth.OPENID_PROVIDER_URL,
    )
    return all(needed)


def leave_event() -> None:
    """Clear Gradio's mark that an event runs.

    An async function that fails leaves it set for everything that follows on its connection, and
    components that are created while it is set stay unfinished.
    """
    LocalContext.in_event_listener.set(False)


def treat_as_launched(page: gr.Blocks) -> None:
    """Have a mounted page check the files that callers name, as a launched page does.

    Otherwise, any path given as an uploaded file would be copied to where it can be
    downloaded. The name of the Space is also removed: with it, browsers would ask Hugging
    Face and Google for a header.
    """
    page.has_launched = True
    page.space_id = None


def upload_folder() -> Path:
    """The folder where Gradio puts uploads."""
    return Path(utils.get_upload_folder())


def upload_into(folder: Path) -> None:
    """Have Gradio put uploads into ``folder``, unless ``GRADIO_TEMP_DIR`` names another.

    Call it once per process, before the page is built.
    """
    os.environ.setdefault("GRADIO_TEMP_DIR", str(folder))
