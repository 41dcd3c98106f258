"""Files the pages need besides Gradio's own: ours under ``/static``, Leaflet under ``/vendor``."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from xstatic.pkg import leaflet

from agl1k_core.errors import Agl1kError
from web.gradio_adapter import STATIC_FOLDER

#: Beside the packages, in a checkout and in the container.
ASSETS = Path(__file__).parents[1] / "assets"
LEAFLET = Path(leaflet.BASE_DIR)
PUBLIC_SUFFIXES = (".css", ".js", ".svg")
_MEDIA_TYPES = {".json": "application/json", ".js": "text/javascript", ".css": "text/css"}


def mount_static(app: FastAPI, assets: Path | None = None) -> None:
    """Serve our assets under ``/static``, and Leaflet.

    Call it before Gradio is mounted at ``/``, whose page is then sent compressed. Nothing is
    mounted at ``/assets``, which is Gradio's own. Raises ``Agl1kError`` if the folder is missing.
    """
    assets = assets or ASSETS
    if not assets.is_dir():
        raise Agl1kError(_missing(assets))
    app.mount("/static", GZipMiddleware(PublicFiles(assets)), name="static")
    app.mount("/vendor/leaflet", GZipMiddleware(CachedFiles(directory=LEAFLET)), name="leaflet")
    app.add_middleware(PackedPage)


class PackedPage:
    """ASGI middleware that compresses only the page and its configuration, 100 KB each.

    Gradio compresses its own files, sound is compressed already, and events must not
    wait.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.plain = app
        self.packing = GZipMiddleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and scope["path"] in ("/", "/config")
        await (self.packing if is_page else self.plain)(scope, receive, send)


def asset(name: str) -> Path:
    """A file in ``assets``; raises ``Agl1kError`` if it is missing."""
    path = ASSETS / name
    if not path.is_file():
        raise Agl1kError(_missing(path))
    return path


def _missing(path: Path) -> str:
    return (
        f"{path} is missing. The pages need the whole folder assets/ of the checkout or container: "
        "restore it, for example with 'git checkout -- assets'."
    )


@cache
def static_url(name: str) -> str:
    """Address of a file in ``assets``, relative to the page, with a hash of its content.

    Such an address may be cached forever: ``static/worldmap.js?v=0123456789``. Raises
    ``Agl1kError`` if the file is missing.
    """
    return f"static/{name}?v={_digest(asset(name))}"


@cache
def leaflet_url(name: str) -> str:
    """Address of one of Leaflet's files, relative to the page, with a hash of its content."""
    return f"vendor/leaflet/{name}?v={_digest(LEAFLET / name)}"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10]


class CachedFiles(StaticFiles):
    """``StaticFiles`` that browsers cache if requested with ``?v=``, and revalidate otherwise."""

    def file_response(self, full_path: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(full_path, *args, **kwargs)
        scope: Scope = args[1]
        versioned = b"v=" in scope.get("query_string", b"")
        keep = "public, max-age=31536000, immutable" if versioned else "no-cache"
        response.headers["Cache-Control"] = keep
        return response


class PublicFiles(CachedFiles):
    """The style sheets, scripts, images and base map in ``assets``, and nothing else.

    A file that is stored as ``name.gz`` is served as ``name``, compressed if the browser accepts
    that. Gradio's own files under ``/static`` are served if there is no file of ours.
    """

    def __init__(self, assets: Path) -> None:
        super().__init__(directory=assets)
        self.public = frozenset(_public_names(assets))
        self.gradio = StaticFiles(directory=STATIC_FOLDER)

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        name = Path(path).as_posix()
        if f"{name}.gz" in self.public:
            return super().lookup_path(f"{name}.gz")
        if name in self.public and not name.endswith(".gz"):
            return super().lookup_path(name)
        return self.gradio.lookup_path(path)

    def file_response(self, full_path: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(full_path, *args, **kwargs)
        scope: Scope = args[1]
        if Path(full_path).suffix != ".gz":
            return response
        return _unpacked_where_needed(response, Path(full_path), Headers(scope=scope))


def _public_names(assets: Path) -> Iterable[str]:
    for path in [*assets.iterdir(), *(assets / "map").iterdir()]:
        stored_packed = path.parent.name == "map" and path.suffix == ".gz"
        if path.is_file() and (path.suffix in PUBLIC_SUFFIXES or stored_packed):
            yield path.relative_to(assets).as_posix()


def _unpacked_where_needed(response: Response, path: Path, headers: Headers) -> Response:
    response.headers["Vary"] = "Accept-Encoding"
    if isinstance(response, NotModifiedResponse):
        return response
    media_type = _MEDIA_TYPES.get(Path(path.stem).suffix, "application/octet-stream")
    if "gzip" in headers.get("Accept-Encoding", ""):
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Type"] = media_type
        return response
    kept = {name: response.headers[name] for name in ("cache-control", "vary")}
    return Response(gzip.decompress(path.read_bytes()), media_type=media_type, headers=kept)
