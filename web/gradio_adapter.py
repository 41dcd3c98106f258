"""The only module that uses internals of Gradio, so that an upgrade is checked in one place.

Everywhere else, only ``import gradio as gr`` is used.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# read whenever a page is built
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
import httpx
from fastapi import FastAPI
from gradio import oauth, queueing, route_utils, utils
from gradio.context import LocalContext
from gradio.data_classes import FileData, ListFiles
from gradio.route_utils import BUILD_PATH_LIB, STATIC_PATH_LIB, FnIndexInferError
from gradio.routes import App
from gradio.server_messages import (
    EventMessage,
    ProcessCompletedMessage,
    UnexpectedErrorMessage,
)
from gradio.state_holder import SessionState, StateHolder
from starlette.datastructures import QueryParams
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from web.addresses import path_of
from web.refusals import refusal

__all__ = [
    "LOGIN_KEY",
    "BUILD_FOLDER",
    "STATIC_FOLDER",
    "UnknownEndpointError",
    "FileData",
    "ListFiles",
    "AnswerQueue",
    "UsedRoutes",
    "gradio_apps",
    "add_innermost",
    "address_of",
    "bounded",
    "queue_of",
    "n_sessions",
    "end_streams",
    "is_login_configured",
    "leave_event",
    "treat_as_launched",
    "upload_into",
]

#: Files that Gradio's page loads from ``/static``.
STATIC_FOLDER = Path(STATIC_PATH_LIB)
#: Its scripts and styles, from ``/assets``; their names contain a hash.
BUILD_FOLDER = Path(BUILD_PATH_LIB)

#: The key of a login in the session, which is a signed cookie.
LOGIN_KEY = "oauth_info"

#: Raised for a request that names no endpoint of the page.
UnknownEndpointError = FnIndexInferError


#: Answers for ``gradio_client`` that may wait to be fetched: how many, how large, how long.
MOST_UNREAD = 100
MOST_UNREAD_BYTES = 16 * 2**20
UNREAD_S = 60.0
#: Calls that wait for their turn.
MOST_WAITING = 40
#: Visitors whose changed components are remembered.
MOST_SESSIONS = 1000

_CLOSED = "This address is closed here. The page and gradio_client do not need it."
_NO_ANSWER = "There is no answer here. It was fetched, or dropped after a minute; call again."
_NOT_QUEUED = "This event is for the page only. GET /gradio_api/info lists the endpoints."

#: An idle queue looks for events this often; only programs' calls join it.
LOOKS_AGAIN_S = 0.05
_ANSWERS = "/gradio_api/queue/data"

#: What the page and ``gradio_client`` request from Gradio; the rest is closed.
_USED = re.compile(
    r"GET (/|/config/?|/theme\.css|/(static|assets|svelte)/.+|/favicon\.ico|/robots\.txt"
    r"|/manifest\.json|/login/(huggingface|callback)|/logout/?"
    r"|/gradio_api/(info/?|app_id/?|startup-events|queue/data|theme\.css))"
    r"|POST /gradio_api/(run/[^/]+/?|queue/join|cancel)"
)


def gradio_apps(app: FastAPI) -> Iterator[App]:
    """The apps of the pages that are mounted in ``app``."""
    for route in app.routes:
        if isinstance(inner := getattr(route, "app", None), App):
            yield inner


def add_innermost(page: App, middleware: Callable[..., ASGIApp], **options: Any) -> None:
    """Put a middleware inside all others of a page, where the session has already been read."""
    page.user_middleware.append(Middleware(middleware, **options))


def address_of(page: App, scope: Scope) -> str:
    """The address of a page as a request names it, without a slash at its end.

    It is empty, so relative, if the request names none that can be one.
    """
    path = page.root_path or scope.get("root_path") or page.get_blocks().custom_mount_path
    try:
        return route_utils.get_root_url(Request(scope), "/", path)
    except httpx.InvalidURL:
        return ""


class UsedRoutes:
    """ASGI middleware that lets only the requests through that the page needs.

    Among the others are files that were uploaded or cached, a proxy, an editor of the page, and a
    second way to queue calls. An answer that is no longer here is refused before Gradio would fail.
    """

    def __init__(self, app: ASGIApp, queue: AnswerQueue) -> None:
        self.app, self.queue = app, queue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif not is_used(scope["method"], path := path_of(scope)):
            await refusal(_CLOSED, 404)(scope, receive, send)
        elif path == _ANSWERS and not self.queue.knows(_session(scope)):
            await Response(_gone(), media_type="text/event-stream")(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _session(scope: Scope) -> str:
    return QueryParams(scope["query_string"]).get("session_hash", "")


def _gone() -> str:
    message = UnexpectedErrorMessage(message=_NO_ANSWER, session_not_found=True)
    return f"data: {message.model_dump_json()}\n\n"


def is_used(method: str, path: str) -> bool:
    """Whether the page or ``gradio_client`` sends such a request."""
    return _USED.fullmatch(f"{'GET' if method == 'HEAD' else method} {path}") is not None


def bounded(page: gr.Blocks, app: FastAPI) -> None:
    """Bound what a page that is mounted in ``app`` keeps for its visitors.

    What neither the page nor ``gradio_client`` requests is answered 404.
    """
    queue = page._queue = AnswerQueue(page)
    for mounted in gradio_apps(app):
        if mounted.get_blocks() is page:
            mounted.state_holder = _LightSessions()  # type: ignore[no-untyped-call]
            mounted.state_holder.set_blocks(page)
            mounted.state_holder.capacity = MOST_SESSIONS
            mounted.add_middleware(UsedRoutes, queue=queue)


def n_sessions(app: FastAPI) -> int:
    """How many visitors' sessions the pages in ``app`` keep."""
    return sum(len(page.state_holder.session_data) for page in gradio_apps(app))


def queue_of(page: App) -> AnswerQueue:
    """The queue of a page after ``bounded``."""
    queue = page.get_blocks()._queue
    assert isinstance(queue, AnswerQueue)
    return queue


@dataclass(frozen=True)
class _Unread:
    session: str
    n_bytes: int
    since: float


class AnswerQueue(queueing.Queue):
    """Gradio's queue with a bound on the answers that nobody has fetched; the oldest are dropped.

    Events that are for the page only do not join it: the page sends them directly.
    """

    def __init__(self, page: gr.Blocks) -> None:
        super().__init__(
            live_updates=True,
            concurrency_count=page.max_threads,
            update_intervals=1,
            max_size=MOST_WAITING,
            blocks=page,
        )
        self._unread: dict[str, _Unread] = {}  # by event, the oldest first
        # Gradio looks for events 1,000 times a second, which takes 6 % of a core
        self.sleep_when_free = self.progress_update_sleep_when_free = LOOKS_AGAIN_S

    async def push(self, body: Any, request: Any, username: str | None) -> Any:
        function = self.blocks.fns.get(body.fn_index)
        if function is not None and function.api_visibility == "private":
            return False, _NOT_QUEUED, "error"
        return await super().push(body, request, username)

    def send_message(self, event: queueing.Event, event_message: EventMessage) -> None:
        super().send_message(event, event_message)
        if not isinstance(event_message, ProcessCompletedMessage):
            return
        loop = asyncio.get_running_loop()
        n_bytes = len(json.dumps(event_message.output, default=str))
        self._unread[event._id] = _Unread(event.session_hash, n_bytes, loop.time())
        self.drop_unread()
        loop.call_later(UNREAD_S + 1, self.drop_unread)

    def knows(self, session: str) -> bool:
        """Whether an answer of a session is here, or will be."""
        return session in self.pending_messages_per_session

    @property
    def unread(self) -> tuple[int, int]:
        """How many answers wait to be fetched, and their bytes."""
        return len(self._unread), sum(each.n_bytes for each in self._unread.values())

    def drop_unread(self) -> None:
        """Drop what is too old, and the oldest if there is too much; forget what was fetched."""
        now, n_left, n_bytes = asyncio.get_running_loop().time(), 0, 0
        for event_id, unread in reversed(list(self._unread.items())):
            if self._is_fetched(unread.session):
                del self._unread[event_id]
                continue
            n_left, n_bytes = n_left + 1, n_bytes + unread.n_bytes
            is_old = now - unread.since > UNREAD_S
            if is_old or n_left > MOST_UNREAD or n_bytes > MOST_UNREAD_BYTES:
                self._forget(unread.session)
                del self._unread[event_id]

    def compute_analytics_summary(self, records: Any) -> dict[str, Any]:
        """Nothing: nobody sees these statistics, and they are computed after each call."""
        return {}

    def _is_fetched(self, session: str) -> bool:
        waiting = self.pending_messages_per_session.get(session)
        if waiting is not None and not waiting.empty():
            return False
        if not self.pending_event_ids_session.get(session):
            self._forget(session)
        return True

    def _forget(self, session: str) -> None:
        self.pending_messages_per_session.pop(session, None)
        self.pending_event_ids_session.pop(session, None)


class _LightSessions(StateHolder):
    """Sessions of a page without state: 80 µs and a few kB each, not 20 ms and 200 kB."""

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = _LightSession(self.blocks)
        return super().__getitem__(session_id)


class _WithoutComponents:
    """A page as a session sees it that copies no configuration, which only deep links need."""

    def __init__(self, page: gr.Blocks) -> None:
        self.default_config = page.default_config
        self.blocks: dict[int, Any] = {}


class _LightSession(SessionState):
    """A session that remembers changed components, but no values."""

    def __init__(self, page: gr.Blocks) -> None:
        super().__init__(_WithoutComponents(page))  # type: ignore[arg-type]

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value)
        self.config_values.clear()

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass


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


def treat_as_launched(page: gr.Blocks, *, checks_files: bool = False) -> None:
    """Have a mounted page check the files that callers name, as a launched page does.

    Otherwise, any path given as an uploaded file would be copied to where it can be downloaded. A
    page that ``checks_files`` itself has them elsewhere than Gradio. The name of the Space is also
    removed: with it, browsers would ask Hugging Face and Google for a header.
    """
    page.has_launched = not checks_files
    page.space_id = None


def upload_into(folder: Path) -> None:
    """Have Gradio put its own files into ``folder``, unless ``GRADIO_TEMP_DIR`` names another.

    Call it once per process, before the page is built.
    """
    os.environ.setdefault("GRADIO_TEMP_DIR", str(folder))
