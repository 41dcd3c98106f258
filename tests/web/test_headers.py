"""Headers of every answer, and the headers of requests that are believed from proxies only."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.responses import Response

from agl1k_core.errors import Agl1kError
from web.forwarded import FromProxies
from web.headers import HUB, HeadedApp, header_values
from web.settings import Settings

NAMES = (
    "content-security-policy", "x-content-type-options", "referrer-policy", "permissions-policy",
)  # fmt: skip


def headed(**options: Any) -> FastAPI:
    app = HeadedApp(header_values(**options))

    @app.get("/fails")
    def fails() -> None:
        raise RuntimeError("a bug")

    @app.get("/own")
    def own() -> Response:
        return Response(headers={"Referrer-Policy": "no-referrer"})

    return app


@pytest.mark.parametrize(("path", "status"), [("/own", 200), ("/nowhere", 404), ("/fails", 500)])
def test_every_answer_has_them(path: str, status: int) -> None:
    answer = TestClient(headed(), raise_server_exceptions=False).get(path)
    assert answer.status_code == status
    assert all(name in answer.headers for name in NAMES)
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("kind", ["text/javascript; charset=utf-8", "text/css"])
def test_scripts_and_style_sheets_have_those_that_are_not_about_pages(kind: str) -> None:
    app = headed()
    app.add_api_route("/part", lambda: Response("", media_type=kind))
    found = TestClient(app).get("/part").headers
    assert [name for name in NAMES if name in found] == [
        "x-content-type-options",
        "referrer-policy",
    ]


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/json", None])
def test_whatever_can_be_opened_as_a_page_has_them_all(kind: str | None) -> None:
    app = headed()
    app.add_api_route("/page", lambda: Response("", media_type=kind))
    assert all(name in TestClient(app).get("/page").headers for name in NAMES)


def test_an_answer_keeps_its_own() -> None:
    assert TestClient(headed()).get("/own").headers.get_list("referrer-policy") == ["no-referrer"]


def policy(**options: Any) -> dict[str, str]:
    text = header_values(**options)["Content-Security-Policy"]
    return dict(part.split(" ", 1) for part in text.split("; "))


def test_the_hub_may_embed_it_by_default() -> None:
    assert policy()["frame-ancestors"] == "'self' https://huggingface.co https://*.hf.space"
    assert policy(frames=())["frame-ancestors"] == "'self'"
    assert policy()["object-src"] == "'none'"


@pytest.mark.parametrize(
    ("tiles", "origin"),
    [
        ("https://tile.example/{z}/{x}/{y}.png", "https://tile.example"),
        ("https://{s}.tile.example:8443/{z}.png", "https://*.tile.example:8443"),
    ],
)
def test_tiles_may_be_loaded(tiles: str, origin: str) -> None:
    assert policy(tiles=tiles)["img-src"] == f"'self' data: blob: {origin}"


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("", HUB),
        ("none", ()),
        ("https://a.example, http://127.0.0.1:*", ("https://a.example", "http://127.0.0.1:*")),
    ],
)
def test_who_may_embed_is_a_setting(text: str, frames: tuple[str, ...]) -> None:
    assert Settings.from_env({"AGL1K_FRAMES": text}).frames == frames


@pytest.mark.parametrize("text", ["*", "a.example", "https://a.example; script-src *", "'none'"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Agl1kError, match=r"AGL1K_FRAMES: .* is no site"):
        Settings.from_env({"AGL1K_FRAMES": text})


_SENT = {
    "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "1.2.3.4",
    "X-Gradio-Server": "https://evil.example", "X-Other": "kept",
}  # fmt: skip


@pytest.mark.parametrize(
    ("peer", "is_believed"),
    [("10.1.2.3", True), ("::ffff:10.1.2.3", True), ("192.0.2.1", False), ("testclient", False)],
)
def test_proxies_are_believed_if_they_are_named(peer: str, is_believed: bool) -> None:
    app = FastAPI()

    @app.get("/")
    def seen(request: Request) -> list[str]:
        return [name for name in _SENT if name in request.headers]

    trusted = Settings.from_env({"AGL1K_TRUSTED_PROXIES": "10.0.0.0/8"}).trusted_proxies
    client = TestClient(FromProxies(app, trusted), client=(peer, 1))
    assert client.get("/", headers=_SENT).json() == ([*_SENT] if is_believed else ["X-Other"])


def test_a_request_without_a_peer_is_not_believed() -> None:
    found: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.extend(name for name, _ in scope["headers"])

    scope = {"type": "http", "client": None, "headers": [(b"x-forwarded-host", b"x"), (b"a", b"")]}
    asyncio.run(FromProxies(app, ["0.0.0.0/0"])(scope, None, None))  # type: ignore[arg-type]
    assert found == [b"a"]
