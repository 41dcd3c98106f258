"""Bodies in the forms that browsers accept."""

from __future__ import annotations

import asyncio
import gzip

import brotli
import pytest
from starlette.datastructures import Headers

from web.packed import Packed

TEXT = b"Given only a sound: where on Earth was it made? " * 200
UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}


@pytest.mark.parametrize(
    ("accepted", "form"),
    [
        ("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("GZIP;q=0.5", "gzip"), ("", None),
        ("br;q=0, gzip", "gzip"), ("br; q=0.0, gzip;q=0", None), ("identity", None),
        ("brotli", None), ("br;q=0.01", "br"),
    ],
)  # fmt: skip
def test_the_best_accepted_form_is_sent(accepted: str, form: str | None) -> None:
    packed = Packed(TEXT, "text/html")
    for _ in range(2):
        answer = packed.answer(Headers({"Accept-Encoding": accepted}))
        assert answer.headers.get("content-encoding") == form
        assert UNPACK[form](bytes(answer.body)) == TEXT
        assert answer.headers["vary"] == "Accept-Encoding"
        asyncio.run(packed.shrink())


@pytest.mark.parametrize(
    ("body", "media_type"), [(b"short", "text/html"), (TEXT, "font/woff2"), (TEXT, "image/png")]
)
def test_what_would_not_get_smaller_is_not_compressed(body: bytes, media_type: str) -> None:
    packed = Packed(body, media_type)
    asyncio.run(packed.shrink())
    answer = packed.answer(Headers({"Accept-Encoding": "br, gzip"}))
    assert "content-encoding" not in answer.headers
    assert answer.body == body


def test_a_form_that_exists_is_sent_as_it_is() -> None:
    stored = gzip.compress(TEXT, 1)
    packed = Packed(TEXT, "text/css", {"gzip": stored})
    assert packed.answer(Headers({"Accept-Encoding": "br, gzip"})).body == stored
    assert packed.answer(Headers({"Accept-Encoding": "br"})).body == TEXT
    asyncio.run(packed.shrink())
    assert len(packed.answer(Headers({"Accept-Encoding": "br, gzip"})).body) < len(stored)


@pytest.mark.parametrize("known", ["{0}", '"other", {0}', 'W/"other",{0}'])
def test_what_a_browser_has_is_not_sent_again(known: str) -> None:
    packed = Packed(TEXT, "text/html")
    tag = packed.answer(Headers()).headers["etag"]
    again = packed.answer(Headers({"If-None-Match": known.format(tag)}), "no-store")
    assert (again.status_code, again.body, again.headers["etag"]) == (304, b"", tag)
    assert again.headers["cache-control"] == "no-store"
    assert (
        Packed(TEXT + b"!", "text/html").answer(Headers({"If-None-Match": tag})).status_code == 200
    )
