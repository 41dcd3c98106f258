"""Files the pages need: ours under ``/static``, Leaflet under ``/vendor``, Gradio's own as well.

An address of ours contains a hash of all files of its folder, so that browsers keep them until one
changes, and modules find each other under the same hash.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from anyio import to_thread
from fastapi import FastAPI
from starlette.background import BackgroundTask
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from xstatic.pkg import leaflet

from agl1k_core.errors import Agl1kError
from web.addresses import path_of
from web.gradio_adapter import BUILD_FOLDER, STATIC_FOLDER
from web.packed import ASK_AGAIN, KEEP_FOREVER, Packed

#: Beside the packages, in a checkout and in the container.
ASSETS = Path(__file__).parents[1] / "assets"
LEAFLET = Path(leaflet.BASE_DIR)
PUBLIC_SUFFIXES = (".css", ".js", ".svg", ".txt")  # .txt: licences
#: Folders in ``assets`` whose files are public as well.
PUBLIC_FOLDERS = ("map", "coasts", "play")
#: So many bytes of files are kept in memory, in all their forms.
MOST_KEPT_BYTES = 32 * 2**20
#: Longer files, compressed quickly, stay as they are.
_LONGEST_SHRUNK = 2**18

_MEDIA_TYPES = {".json": "application/json", ".js": "text/javascript", ".css": "text/css"}
_IMPORTED = re.compile(r"(?:from|import\() ?'(\.{1,2}/[^']+)'")
_VERSIONED = re.compile(r"([0-9a-f]{10})/(.+)")


def mount_static(app: FastAPI, assets: Path | None = None) -> None:
    """Serve our assets and Gradio's, and Leaflet; call it before Gradio is mounted at ``/``.

    Raises ``Agl1kError`` if the folder is missing.
    """
    assets = assets or ASSETS
    if not assets.is_dir():
        raise Agl1kError(_missing(assets))
    ours = {**_all_files(STATIC_FOLDER), **_public_files(assets)}
    app.mount("/static", PackedFiles(ours, _version(assets)), name="static")
    app.mount("/vendor/leaflet", PackedFiles(_all_files(LEAFLET), _version(LEAFLET)))
    # Gradio's names contain hashes; other sites' pages may load its scripts to show ours
    gradio = PackedFiles(_all_files(BUILD_FOLDER), are_hashed=True)
    app.mount("/assets", _ForOtherSites(gradio))


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


def static_url(name: str) -> str:
    """Address of a file in ``assets``, relative to the page: ``static/0123456789/worldmap.js``.

    It may be cached forever. Raises ``Agl1kError`` if the file is missing.
    """
    if not (ASSETS / f"{name}.gz").is_file():  # which is unpacked for browsers
        asset(name)
    return f"static/{_version(ASSETS)}/{name}"


def leaflet_url(name: str) -> str:
    """Address of one of Leaflet's files, relative to the page; it may be cached forever."""
    return f"vendor/leaflet/{_version(LEAFLET)}/{name}"


@cache
def modules(name: str) -> tuple[str, ...]:
    """The names of a module in ``assets`` and of all that it imports, in the order found.

    Left out is what is imported as ``new URL(…)``: it is not needed before somebody asks for it.
    """
    found, waiting = dict.fromkeys([name]), [name]
    while waiting:
        importing = waiting.pop()
        for path in _IMPORTED.findall(asset(importing).read_text("utf-8")):
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(importing), path))
            if imported not in found:
                found[imported] = None
                waiting.append(imported)
    return tuple(found)


@cache
def _version(folder: Path) -> str:
    """A hash of all files in a folder."""
    found = hashlib.sha256()
    for name, path in sorted(_all_files(folder).items()):
        found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:10]


def _all_files(folder: Path) -> dict[str, Path]:
    return {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }


def _public_files(assets: Path) -> dict[str, Path]:
    """The style sheets, scripts, images and map data in ``assets``, and nothing else.

    A file that is stored as ``name.gz`` is served as ``name``.
    """
    found = {}
    for folder in (assets, *(assets / name for name in PUBLIC_FOLDERS)):
        for path in folder.glob("*"):
            is_packed = folder != assets and path.suffix == ".gz"
            if path.is_file() and (is_packed or path.suffix in PUBLIC_SUFFIXES):
                name = path.relative_to(assets).as_posix()
                found[name.removesuffix(".gz") if is_packed else name] = path
    return found


class PackedFiles:
    """ASGI app that serves files from memory, by their names.

    Browsers keep a file if its address contains the current ``version``, as in
    ``/0123456789/name``, or if all names contain hashes. Otherwise they ask whether it has changed.
    """

    def __init__(
        self, files: Mapping[str, Path], version: str = "", *, are_hashed: bool = False
    ) -> None:
        self._files, self._version, self._are_hashed = files, version, are_hashed
        self._kept: dict[Path, tuple[int, Packed]] = {}  # with the time of its last change

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            answer: Response = PlainTextResponse("Method Not Allowed", 405)
        else:
            answer = await self._answer(path_of(scope).removeprefix("/"), Headers(scope=scope))
        await answer(scope, receive, send)

    async def _answer(self, address: str, asked: Headers) -> Response:
        versioned = _VERSIONED.fullmatch(address)
        path = self._files.get(versioned[2] if versioned else address)
        if path is None:
            return PlainTextResponse("Not Found", 404)
        is_fixed = self._are_hashed or bool(versioned and versioned[1] == self._version)
        was_asked_for = path in self._kept
        packed = await self._packed(path)
        answer = packed.answer(asked, KEEP_FOREVER if is_fixed else ASK_AGAIN)
        if was_asked_for and len(answer.body) < _LONGEST_SHRUNK:
            answer.background = BackgroundTask(packed.shrink)
        return answer

    async def _packed(self, path: Path) -> Packed:
        changed = path.stat().st_mtime_ns
        kept = self._kept.get(path)
        if kept is not None and kept[0] == changed:
            return kept[1]
        packed = await to_thread.run_sync(_read, path)
        self._kept[path] = changed, packed
        self._drop_oldest(but=path)
        return packed

    def _drop_oldest(self, but: Path) -> None:
        n_bytes = sum(packed.n_bytes for _, packed in self._kept.values())
        for path, (_, packed) in list(self._kept.items()):
            if n_bytes > MOST_KEPT_BYTES and path != but:
                del self._kept[path]
                n_bytes -= packed.n_bytes


def _read(path: Path) -> Packed:
    content = path.read_bytes()
    name = path.name.removesuffix(".gz")
    media_type = _MEDIA_TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0]
    media_type = media_type or "application/octet-stream"
    if name != path.name:
        return Packed(gzip.decompress(content), media_type, {"gzip": content})
    packed = Packed(content, media_type)
    packed.pack()
    return packed


class _ForOtherSites:
    """ASGI middleware that lets scripts of other sites read answers that are the same for all."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_to_all(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Access-Control-Allow-Origin"] = "*"
            await send(message)

        await self.app(scope, receive, send_to_all)
