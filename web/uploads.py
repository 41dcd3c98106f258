"""Files that visitors upload: bounded as they arrive, read by later steps, never served, and soon
deleted.

An upload is named by an unguessable token, so nobody can use the file of another.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from threading import Lock
from typing import BinaryIO, Protocol

import anyio
from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Message

from agl1k_core.errors import Agl1kError, UnavailableError
from web.refusals import refusal

log = logging.getLogger("agl1k")

#: Long enough to fill in a form after a dry run.
KEEP_S = 3600.0
MOST_BYTES = 2**28
SWEEP_EVERY_S = 60.0
#: Uploads that may arrive at the same time, and at which rate they are read in all.
MOST_AT_ONCE = 32
BYTES_PER_S = 16 * 2**20

GONE = (
    "This file is no longer on the server: uploads are kept for an hour, and the oldest are "
    "deleted if there are many. Upload it again. If this happens at once, the site runs on several "
    "servers that do not share uploads, and its proxy must send each visitor to the same one."
)
_BUSY = "Many files are being uploaded at the moment. Try again in a minute."
_NO_FILE = "Upload one file, as the field “files” of a form."
_FOLDERS: set[Path] = set()
_NAME = re.compile(r"([0-9a-f]{32})/([^/\x00]{1,60})")


class Shared(Protocol):
    """Copies of uploads that other servers can read."""

    def keep(self, upload: str, data: bytes) -> bool:
        """Store a copy; returns whether there was room."""

    def find(self, upload: str) -> bytes | None:
        """The content of an upload; None if it is not here."""

    def sweep(self) -> None:
        """Delete what is too old."""


class FullError(Agl1kError):
    """There is no room for another upload at the moment."""


@dataclass
class Uploads:
    """The uploads in a folder: at most ``most_bytes``, and ``most_each`` bytes each.

    Other servers on this machine may share the folder; others find the files in ``shared``.
    Raises ``Agl1kError`` if the folder belongs to another user, who could read and change them.
    """

    folder: Path
    most_each: int
    most_bytes: int = MOST_BYTES
    shared: Shared | None = None
    _arriving: int = field(default=0, init=False)  # uploads
    _arriving_bytes: int = field(default=0, init=False)
    _free_at: float = field(default=0.0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        self.most_bytes = max(self.most_bytes, 4 * self.most_each)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and self.folder.stat().st_uid not in (os.getuid(), 0):
            raise Agl1kError(
                f"The folder of uploads, {self.folder}, belongs to another user. Set AGL1K_UPLOADS "
                "to a folder of your own."
            )
        _FOLDERS.add(self.folder.resolve())

    @asynccontextmanager
    async def arriving(self, request: Request) -> AsyncIterator[Request]:
        """The request, whose body is counted and slowed down as it arrives.

        Raises ``FullError`` if too many or too much arrives at the same time.
        """
        if self._arriving >= min(MOST_AT_ONCE, self.most_bytes // (self.most_each + 1)):
            raise FullError(_BUSY)
        self._arriving += 1
        n_bytes = 0

        async def receive() -> Message:
            nonlocal n_bytes
            message = await request.receive()
            n_new = len(message.get("body", b""))
            n_bytes += n_new
            self._arriving_bytes += n_new
            if self._arriving_bytes > self.most_bytes:
                raise FullError(_BUSY)
            await self._slowed(n_new)
            return message

        try:
            yield Request(request.scope, receive)
        finally:
            self._arriving -= 1
            self._arriving_bytes -= n_bytes

    @asynccontextmanager
    async def swept(self) -> AsyncIterator[None]:
        """Sweep the folder now, and every minute until the block ends."""

        async def sweep_on() -> None:
            while True:
                await anyio.to_thread.run_sync(self.sweep)
                await anyio.sleep(SWEEP_EVERY_S)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sweep_on)
            yield
            tasks.cancel_scope.cancel()

    def sweep(self) -> None:
        """Delete what is too old or too much."""
        sweep(self.folder, most_bytes=self.most_bytes)
        if self.shared is not None:
            with suppress(UnavailableError):  # logged there
                self.shared.sweep()

    def keep(self, name: str, n_bytes: int, data: BinaryIO) -> str:
        """Store a file; returns its name for later steps, ``token/name``."""
        upload = f"{secrets.token_hex(16)}/{plain(name)}"
        path = self._written(upload, n_bytes, data)
        if self.shared is not None:
            self._share(self.shared, upload, path)
        return upload

    def _written(self, upload: str, n_bytes: int, data: BinaryIO) -> Path:
        path = self.folder / upload
        with self._lock:  # room is made for one at a time
            sweep(self.folder, most_bytes=self.most_bytes - n_bytes)
            part = self.folder / f"part-{secrets.token_hex(8)}"
            part.mkdir(mode=0o700, parents=True)
            with (part / path.name).open("xb") as file:
                shutil.copyfileobj(data, file)
            with suppress(OSError):  # two steps fetched it at the same time
                part.rename(path.parent)
        return path

    def _share(self, shared: Shared, upload: str, path: Path) -> None:
        """Give other servers a copy; without it, later steps must reach this server."""
        try:
            is_shared = shared.keep(upload, path.read_bytes())
        except (UnavailableError, FileNotFoundError):
            is_shared = False
        if not is_shared:
            log.warning("event=upload_not_shared: later steps with it work on this server only")

    def find(self, upload: str) -> Path:
        """The file of an upload; raises ``Agl1kError`` if it is no longer here."""
        if not is_upload(upload):
            raise Agl1kError(GONE)
        path = self.folder / upload
        if path.is_file():
            return path
        data = None if self.shared is None else self.shared.find(upload)
        if data is None:
            raise Agl1kError(GONE)
        return self._written(upload, len(data), io.BytesIO(data))

    async def _slowed(self, n_bytes: int) -> None:
        """Wait until all uploads together have arrived at the permitted rate."""
        now = time.monotonic()
        self._free_at = max(now, self._free_at) + n_bytes / BYTES_PER_S
        if self._free_at - now > 0.05:
            await asyncio.sleep(self._free_at - now)


def is_upload(text: str) -> bool:
    """Whether a text is the name of an upload."""
    found = _NAME.fullmatch(text)
    return found is not None and plain(found[2]) == found[2]


def is_uploaded(path: str) -> bool:
    """Whether a path lies in a folder of uploads of this process."""
    try:
        return not _FOLDERS.isdisjoint(Path(path).resolve().parents)
    except (OSError, ValueError):  # not a path at all: too long, or with a NUL
        return False


def plain(name: str) -> str:
    """A file name without folders and unusual characters, of up to 60 characters.

    >>> plain("../My answers (2).json"), plain(".."), plain("")
    ('My answers (2).json', 'upload', 'upload')
    """
    last = PurePath(name.replace("\\", "/")).name
    return re.sub(r"[^\w .()+-]", "", last)[-60:].strip(". ") or "upload"


def upload_router(uploads: Uploads, address: str) -> APIRouter:
    """The address to which the page and ``gradio_client`` upload files."""
    router = APIRouter(include_in_schema=False)

    @router.post(address)
    async def upload(request: Request) -> Response:
        return await _uploaded(uploads, request)

    @router.get(f"{address}_progress")
    async def progress() -> Response:
        # the page asks for it, and complains in the console if there is no answer
        return Response('data: {"msg": "done"}\n\n', media_type="text/event-stream")

    return router


async def _uploaded(uploads: Uploads, request: Request) -> Response:
    try:
        async with uploads.arriving(request) as counted:
            names = await _kept(uploads, counted)
    except FullError as error:
        return refusal(str(error), 503, {"Retry-After": "60", "Connection": "close"})
    except MultiPartException as error:
        return PlainTextResponse(f"{_NO_FILE} {error.message}", 400)
    except ClientDisconnect:
        return Response(status_code=400)
    except OSError as error:
        return refusal(f"The file could not be stored: {error.strerror}.", 503)
    return names


async def _kept(uploads: Uploads, request: Request) -> Response:
    async with request.form(max_files=1, max_fields=10, max_part_size=10_000) as form:
        found = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
        if not found:
            return PlainTextResponse(_NO_FILE, 400)
        [file] = found
        if (file.size or 0) > uploads.most_each:
            most_mb = uploads.most_each / 2**20
            return PlainTextResponse(f"The file is too large: the limit is {most_mb:.0f} MB.", 413)
        named = (file.filename or "", file.size or 0, file.file)
        name = await anyio.to_thread.run_sync(uploads.keep, *named)
        return JSONResponse([name])


def sweep(
    folder: Path, *, keep_s: float = KEEP_S, most_bytes: int = MOST_BYTES, now: float | None = None
) -> None:
    """Delete what is older than ``keep_s``, and then the oldest until ``most_bytes`` are left.

    Nothing about uploads is kept in memory: another process may share the folder.
    """
    now = time.time() if now is None else now
    room = most_bytes
    for changed_s, n_bytes, path in sorted(_entries(folder), reverse=True):
        room -= n_bytes
        if now - changed_s > keep_s or room < 0:
            _delete(path)


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """(time of the last change, bytes, path) of each entry, including everything inside it."""
    found = []
    for path in folder.glob("*"):
        inside = [path, *path.rglob("*")] if path.is_dir() else [path]
        with suppress(OSError):
            stats = [each.lstat() for each in inside]
            changed_s = max(stat.st_ctime for stat in stats)
            found.append((changed_s, sum(stat.st_size for stat in stats), path))
    return found


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
