"""Headers of every answer: what a page may load, who may embed it, what browsers must not guess.

Scripts and style sheets, of which a first visit fetches dozens over a line that may be slow, do not
have the two policies, which browsers apply to pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Who may show the site in a frame, besides itself, unless the operator says otherwise.
HUB = ("https://huggingface.co", "https://*.hf.space")

#: What the pages load and do. Gradio writes scripts and styles into the page and compiles the
#: JavaScript of events; recordings and waveforms are blobs, icons and panoramas data.
_SOURCES: Mapping[str, tuple[str, ...]] = {
    "default-src": ("'self'",),
    "script-src": ("'self'", "'unsafe-inline'", "'unsafe-eval'"),
    "style-src": ("'self'", "'unsafe-inline'"),
    "img-src": ("'self'", "data:", "blob:"),
    "media-src": ("'self'", "data:", "blob:"),
    "font-src": ("'self'", "data:"),
    "connect-src": ("'self'", "data:", "blob:"),
    "worker-src": ("'self'", "blob:"),
    "frame-src": ("'none'",),
    "object-src": ("'none'",),
    "base-uri": ("'self'",),
    "form-action": ("'self'",),
}
_FEATURES = (
    "camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb",
)  # fmt: skip
#: Headers that say something about pages, and kinds of answers that are none.
_OF_PAGES = ("Content-Security-Policy", "Permissions-Policy")
_NO_PAGES = ("text/javascript", "text/css")


def header_values(frames: Sequence[str] = HUB, tiles: str = "") -> dict[str, str]:
    """The headers by name.

    ``frames``: who may embed the site, besides itself. ``tiles``: the address of map tiles, which
    may be a template.
    """
    images = (*_SOURCES["img-src"], *_origin(tiles))
    sources = {**_SOURCES, "img-src": images, "frame-ancestors": ("'self'", *frames)}
    policy = "; ".join(f"{name} {' '.join(values)}" for name, values in sources.items())
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "strict-origin-when-cross-origin",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _FEATURES),
    }


def _origin(template: str) -> tuple[str, ...]:
    """The origins of an address with fields in it; a field in the host is any host."""
    if not template:
        return ()
    parts = urlsplit(template)
    host = parts.netloc.rpartition("@")[2]
    first, dot, rest = host.partition(".")
    return (f"{parts.scheme}://{f'*{dot}{rest}' if '{' in first else host}",)


class HeadedApp(FastAPI):
    """An app all of whose answers, those to its own errors included, have some headers.

    An answer that sets one of them itself keeps its own.
    """

    def __init__(self, headers: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._headers = headers

    def build_middleware_stack(self) -> ASGIApp:
        """Around everything else, also around what answers if something fails."""
        return _Headed(super().build_middleware_stack(), self._headers)


class _Headed:
    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app, self._headers = app, headers
        self._of_parts = {name: headers[name] for name in headers if name not in _OF_PAGES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                is_part = found.get("Content-Type", "").startswith(_NO_PAGES)
                for name, value in (self._of_parts if is_part else self._headers).items():
                    found.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_headed)
