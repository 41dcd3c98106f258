"""A page as Gradio's Blocks: how it is mounted, and what callers are told who send nonsense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from gradio.context import LocalContext
from gradio.exceptions import Error
from gradio.route_utils import FnIndexInferError
from gradio.utils import get_upload_folder
from starlette.requests import ClientDisconnect
from starlette.routing import Mount

from agl1k_core.errors import Agl1kError
from ui import frame
from ui.theme import theme

#: An event that is done at once, shows no progress, and is no endpoint for others.
QUIET: Mapping[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}

NOT_UPLOADED = "This file was not uploaded here. Upload it, then try again."
_NO_FILE = "This field takes no file."
_MALFORMED = "This request cannot be read. Send a JSON object with the list “data”, in UTF-8."
_NO_ENDPOINT = "There is no such endpoint here. GET /gradio_api/info lists them."

#: Larger whole numbers are no number of ours, and JSON of others cannot hold them.
_LARGEST = 2**53
_MOST_VALUES = 50_000
#: Gradio's messages repeat what was sent.
_LONGEST = 500


class Page(gr.Blocks):
    """``gr.Blocks`` that looks at what a caller sends before Gradio does.

    Gradio takes any JSON for any component: it would fetch an address that is named as a file, and
    fail with a traceback on most of the rest.
    """

    def get_block_name(self) -> str:
        return "blocks"

    async def process_api(
        self, block_fn: Any, inputs: list[Any], *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """As Gradio's; what is refused is told to the caller, and fills no log."""
        function = self.fns[block_fn] if isinstance(block_fn, int) else block_fn
        problem = problem_of(function, inputs)
        if problem:
            raise gr.Error(problem, print_exception=False)
        # an async function that fails leaves this set, for all that follows on its connection, and
        # components that are made with it set stay unfinished
        LocalContext.in_event_listener.set(False)
        try:
            answer: dict[str, Any] = await super().process_api(block_fn, inputs, *args, **kwargs)
        except Agl1kError as error:
            raise gr.Error(str(error), print_exception=False) from None
        except Error as error:
            raise gr.Error(str(error.message)[:_LONGEST], print_exception=False) from None
        return answer


def problem_of(function: Any, inputs: Sequence[object]) -> str:
    """What is wrong with the values that a caller sends to a function; "" when nothing is."""
    if function.fn is None:
        return "This event runs in the browser only."
    if len(inputs) != len(function.inputs):
        names = ", ".join(str(getattr(block, "label", None) or "?") for block in function.inputs)
        return f"Send {len(function.inputs)} values ({names}), not {len(inputs)}."
    for block, value in zip(function.inputs, inputs, strict=True):
        problem = _file_problem(value) if isinstance(block, gr.File) else _value_problem(value)
        if isinstance(block, gr.Dropdown | gr.Radio) and isinstance(value, list | dict):
            problem = problem or f"Choose one value for “{block.label}”."
        if problem:
            return problem
    return ""


def _file_problem(value: object) -> str:
    if value is None:
        return ""
    path = value.get("path") if isinstance(value, dict) else None
    if not isinstance(path, str) or not is_uploaded(path):
        return NOT_UPLOADED
    return _value_problem({**value, "meta": None}) if isinstance(value, dict) else ""


def is_uploaded(path: str) -> bool:
    """Whether a path lies in the folder where Gradio puts uploads."""
    try:
        return Path(path).resolve().is_relative_to(Path(get_upload_folder()).resolve())
    except (OSError, ValueError):  # no path at all: too long, or with a NUL
        return False


def _value_problem(value: object) -> str:
    for number, part in enumerate(_parts(value)):
        if number > _MOST_VALUES:
            return "This value is too large: it holds too many parts."
        if isinstance(part, int | float) and not abs(part) <= _LARGEST:
            return "A number is too large, or is none. Leave it out."
        if isinstance(part, dict) and _is_file(part):
            return _NO_FILE
    return ""


def _parts(value: object) -> Iterator[object]:
    """A value and all that is in it; a loop, because callers nest as deep as they like."""
    left = [value]
    while left:
        part = left.pop()
        yield part
        if isinstance(part, dict):
            left += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            left += part


def _is_file(part: Mapping[object, object]) -> bool:
    meta = part.get("meta")
    return isinstance(meta, dict) and "_type" in meta


def mount(app: FastAPI, page: gr.Blocks, **options: Any) -> FastAPI:
    """Serve a page at ``/``; ``options`` are further ones of ``gr.mount_gradio_app``."""
    # a page that is mounted counts as not launched, and then any path that a caller names as an
    # uploaded file would be copied to where it can be downloaded
    page.has_launched = True
    page.space_id = None  # or browsers ask Hugging Face and Google for a header of the Space
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        page,
        path="/",
        theme=theme(),
        head=frame.page_head(),
        footer_links=[],
        show_error=False,
        ssr_mode=False,
        pwa=False,
        enable_monitoring=False,
        favicon_path=str(frame.FAVICON),
        **options,
    )
    answer_nonsense(mounted)
    return mounted


def answer_nonsense(mounted: FastAPI) -> None:
    """Have the Gradio app under ``mounted`` answer requests that name or say nothing we know."""
    for route in mounted.routes:
        if isinstance(route, Mount) and isinstance(route.app, FastAPI):
            route.app.add_exception_handler(RequestValidationError, _malformed)
            route.app.add_exception_handler(TypeError, _malformed)  # of parameters' names
            route.app.add_exception_handler(FnIndexInferError, _no_endpoint)
            route.app.add_exception_handler(ClientDisconnect, _gone)
            route.app.add_exception_handler(KeyError, _no_endpoint)  # of the functions' numbers


async def _malformed(_: Request, error: Exception) -> JSONResponse:
    """Gradio's answer repeats what was sent, and fails on what is no text."""
    fields = error.errors() if isinstance(error, RequestValidationError) else []
    names = {str(field["loc"][-1])[:40] for field in fields if field.get("loc")}
    asked = [name for name in sorted(names) if name.isidentifier()]
    told = f"{_MALFORMED} Look at: {', '.join(asked)}." if asked else _MALFORMED
    return JSONResponse({"error": told, "detail": told}, 422)


async def _gone(_: Request, __: Exception) -> Response:
    """Nobody hears it: a client that goes in the middle of an upload is no fault of ours."""
    return Response(status_code=400)


async def _no_endpoint(_: Request, __: Exception) -> JSONResponse:
    return JSONResponse({"error": _NO_ENDPOINT, "detail": _NO_ENDPOINT}, 404)
