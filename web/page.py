"""A Gradio page: how it is mounted, and how it answers invalid requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import gradio as gr
from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.requests import ClientDisconnect

from agl1k_core.errors import Agl1kError, UnavailableError
from web.addresses import ending_with_slash
from web.gradio_adapter import (
    UnknownEndpointError,
    add_innermost,
    address_of,
    bounded,
    gradio_apps,
    leave_event,
    treat_as_launched,
)
from web.inputs import problem_of, with_files
from web.limits import UPLOAD
from web.refusals import refusal
from web.rendered import TAGS, RenderedOnce, Tags
from web.unavailable import note
from web.uploads import Uploads, upload_router

#: An event that runs at once, shows no progress, and is not an endpoint for others.
QUIET: Mapping[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}

_MALFORMED = "This request cannot be read. Send a JSON object with the list “data”, in UTF-8."
_NO_ENDPOINT = "There is no such endpoint here. GET /gradio_api/info lists them."

_GRADIOS_TAGS = re.compile(rb"""<meta\s+(?:property|name)=["'](?:og|twitter):[^>]*>\s*""")
#: Its configuration, scripts and style sheet, which stand together in the head.
_GRADIOS_SCRIPTS = re.compile(
    rb'<script>window\.gradio_config = .*?<script type="module"[^>]*></script>'
    rb'\s*<link rel="stylesheet"[^>]*>',
    re.DOTALL,
)
_BODY = re.compile(rb"<body[^>]*>")

#: Gradio's messages repeat what was sent.
_LONGEST = 500


class Refusal(gr.Error):
    """An error of ours for the caller, who gets the whole message; nothing is logged."""

    def __init__(self, message: str) -> None:
        super().__init__(message, print_exception=False)


class Page(gr.Blocks):
    """``gr.Blocks`` that checks what callers send, and reports refusals without a traceback."""

    uploads: Uploads | None = None

    def get_block_name(self) -> str:
        return "blocks"

    def get_config_file(self) -> Any:
        """What a browser gets; it need not hold a stream open, as sessions are bounded anyway."""
        config = super().get_config_file()
        config["connect_heartbeat"] = False
        return config

    async def process_api(
        self, block_fn: Any, inputs: list[Any], *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """Run an event; a refusal is reported to the caller and not logged."""
        function = self.fns[block_fn] if isinstance(block_fn, int) else block_fn
        problem = problem_of(function, inputs)
        if problem:
            raise gr.Error(problem, print_exception=False)
        leave_event()
        try:
            if self.uploads is not None:
                inputs = await to_thread.run_sync(with_files, function, inputs, self.uploads)
            answer: dict[str, Any] = await super().process_api(block_fn, inputs, *args, **kwargs)
        except UnavailableError as error:
            note(error)
            raise gr.Error(str(error), print_exception=False) from None
        except Agl1kError as error:
            raise Refusal(str(error)) from None
        except Refusal:
            raise
        except gr.Error as error:
            raise gr.Error(str(error.message)[:_LONGEST], print_exception=False) from None
        return answer


def mount(
    app: FastAPI,
    page: gr.Blocks,
    uploads: Uploads | None = None,
    *,
    head: str = "",
    early: str = "",
    later: str = "",
    tags: Tags | None = None,
    **options: Any,
) -> FastAPI:
    """Serve a page at ``/``; ``options`` are passed to ``gr.mount_gradio_app``.

    Without ``uploads``, the page takes no files. ``head`` is part of the HTML: Gradio would add it
    only once its scripts run, so that what it names would be loaded late. ``early`` is seen first:
    Gradio's own tags, with those of ``later`` before them, are then in a template with the id
    ``agl-gradio``, for a script of ``early`` to add. ``tags`` are those of ``web.rendered``;
    Gradio's own, which describe Gradio, are left out.
    """
    head = f"<title>{escape(str(page.title))}</title>{head}"  # Gradio sets it late
    treat_as_launched(page, checks_files=uploads is not None)
    if uploads is not None:
        assert isinstance(page, Page), "a plain page would not check the files that callers name"
        page.uploads = uploads
        app.include_router(upload_router(uploads, UPLOAD))
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        page,
        path="/",
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        pwa=False,
        enable_monitoring=False,
        **options,
    )
    bounded(page, mounted)
    answer_nonsense(mounted)
    for inner in gradio_apps(mounted):
        root_of = partial(address_of, inner)
        finish = partial(_finished, head, early, later)
        add_innermost(inner, RenderedOnce, root_of=root_of, finish=finish, tags=tags)
    return mounted


def _finished(head: str, early: str, later: str, page: bytes) -> bytes:
    page = _GRADIOS_TAGS.sub(b"", page).replace(b"<head>", b"<head>" + TAGS, 1)
    page = ending_with_slash(page).replace(b"</head>", head.encode() + b"</head>", 1)
    return _with_first_view(page, early.encode(), later.encode()) if early else page


def _with_first_view(page: bytes, early: bytes, later: bytes) -> bytes:
    """The page with ``early`` in front, and with what Gradio needs in a template at its end."""
    found = _GRADIOS_SCRIPTS.search(page)
    assert found, "Gradio's scripts are not where they were; see _GRADIOS_SCRIPTS"
    page = page.replace(found[0], b"", 1)
    page = _BODY.sub(lambda body: body[0] + early, page, count=1)
    template = b'<template id="agl-gradio">' + later + found[0] + b"</template>"
    return page.replace(b"</body>", template + b"</body>", 1)


def answer_nonsense(mounted: FastAPI) -> None:
    """Have the pages in ``mounted`` explain malformed requests and unknown endpoints."""
    for page in gradio_apps(mounted):
        page.add_exception_handler(RequestValidationError, _malformed)
        page.add_exception_handler(TypeError, _malformed)  # unknown names of parameters
        page.add_exception_handler(UnknownEndpointError, _no_endpoint)
        page.add_exception_handler(ClientDisconnect, _gone)
        page.add_exception_handler(KeyError, _no_endpoint)  # unknown numbers of functions


async def _malformed(_: Request, error: Exception) -> Response:
    """Name the fields that are wrong; Gradio would repeat what was sent, and fail on non-text."""
    fields = error.errors() if isinstance(error, RequestValidationError) else []
    names = {str(field["loc"][-1])[:40] for field in fields if field.get("loc")}
    wrong = [name for name in sorted(names) if name.isidentifier()]
    message = f"{_MALFORMED} Check: {', '.join(wrong)}." if wrong else _MALFORMED
    return refusal(message, 422)


async def _gone(_: Request, __: Exception) -> Response:
    """A client that disconnects during an upload is not a server error."""
    return Response(status_code=400)


async def _no_endpoint(_: Request, __: Exception) -> Response:
    return refusal(_NO_ENDPOINT, 404)
