"""Bytes that many browsers fetch: compressed once, and not sent again to those that have them."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping

import brotli
from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers
from starlette.responses import Response

#: What a browser may do with an answer: ask whether it has changed, or keep it.
ASK_AGAIN = "no-cache"
KEEP_FOREVER = "public, max-age=31536000, immutable"

#: Shorter texts are sent as they are.
_LEAST_BYTES = 400
_TEXTS = re.compile(r"text/|application/(json|javascript|manifest\+json)|image/svg")
_QUICK: Mapping[str, Callable[[bytes], bytes]] = {
    "br": lambda body: brotli.compress(body, mode=brotli.MODE_TEXT, quality=5),
    "gzip": lambda body: gzip.compress(body, 6, mtime=0),
}
_SMALL: Mapping[str, Callable[[bytes], bytes]] = {
    "br": lambda body: brotli.compress(body, mode=brotli.MODE_TEXT, quality=11),
    "gzip": lambda body: gzip.compress(body, 9, mtime=0),
}
_one_thread = CapacityLimiter(1)


class Packed:
    """A body in the forms that browsers accept.

    ``forms`` exist already, by their names in ``Accept-Encoding``; no others are then made, until
    ``shrink`` is called.
    """

    def __init__(
        self, body: bytes, media_type: str, forms: Mapping[str, bytes] | None = None
    ) -> None:
        self.media_type, self._body = media_type, body
        self._forms = dict(forms or {})
        self._names = _names(body, media_type, self._forms)
        self._tag = hashlib.sha256(body).hexdigest()[:16]
        self._is_small = not self._names

    @property
    def n_bytes(self) -> int:
        """The size of all forms together."""
        return len(self._body) + sum(map(len, self._forms.values()))

    def answer(self, asked: Headers, keep: str = ASK_AGAIN) -> Response:
        """A response to a request with the headers ``asked``: whole, or 304 if the browser has it.

        ``keep`` is the response's ``Cache-Control``.
        """
        told = {"Cache-Control": keep, "ETag": f'W/"{self._tag}"', "Vary": "Accept-Encoding"}
        if self._tag in re.findall(r'"([^"]*)"', asked.get("if-none-match", "")):
            return Response(status_code=304, headers=told)
        accepted = _accepted(asked.get("accept-encoding", ""))
        name = next((name for name in self._names if name in accepted), "")
        if not name:
            return Response(self._body, media_type=self.media_type, headers=told)
        told["Content-Encoding"] = name
        return Response(self._form(name), media_type=self.media_type, headers=told)

    def pack(self) -> None:
        """Make all forms now, quickly, instead of when they are first wanted."""
        for name in self._names:
            self._form(name)

    def _form(self, name: str) -> bytes:
        if name not in self._forms:
            self._forms[name] = _QUICK[name](self._body)
        return self._forms[name]

    async def shrink(self) -> None:
        """Make all forms as small as possible, once, in a thread."""
        if self._is_small:
            return
        self._is_small = True
        for name, make in _SMALL.items():
            self._forms[name] = await to_thread.run_sync(make, self._body, limiter=_one_thread)
        self._names = list(_SMALL)


def _names(body: bytes, media_type: str, forms: Mapping[str, bytes]) -> list[str]:
    """The names of the forms that a body has, the best first."""
    is_worth_it = len(body) >= _LEAST_BYTES and _TEXTS.match(media_type) is not None
    return list(forms) or (list(_QUICK) if is_worth_it else [])


def _accepted(header: str) -> set[str]:
    """The names in ``Accept-Encoding`` that are not refused with ``q=0``."""
    parts = (part.replace(" ", "").lower().split(";") for part in header.split(","))
    return {name for name, *more in parts if not any(re.fullmatch(r"q=0(\.0*)?", q) for q in more)}
