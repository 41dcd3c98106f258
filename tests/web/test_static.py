"""What browsers may fetch, and what they may not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import gradio
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agl1k_core.errors import Agl1kError
from web import static
from web.static import leaflet_url, mount_static, static_url


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    mount_static(app)
    return TestClient(app)


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    """A small assets folder with one file of each kind."""
    for name, content in {
        "style.css": b"a{}",
        "notes.md": b"private",
        "__init__.py": b"private",
        "results.csv": b"private",
        "demo/clips.csv": b"latitude",
        "demo/clip.js": b"private",
        "map/names.js": b"export {};",
        "map/source.csv": b"private",
        "map/land.json.gz": gzip.compress(b'{"land": []}'),
    }.items():
        path = tmp_path / "assets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "secret.css").write_text("private")
    return tmp_path / "assets"


@pytest.fixture
def small(assets: Path) -> TestClient:
    app = FastAPI()
    mount_static(app, assets)
    return TestClient(app)


@pytest.mark.parametrize("path", ["style.css", "map/names.js", "map/land.json"])
def test_scripts_styles_and_map_are_served(small: TestClient, path: str) -> None:
    assert small.get(f"/static/{path}").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "demo/clips.csv",
        "demo/clip.js",
        "notes.md",
        "__init__.py",
        "results.csv",
        "map/source.csv",
        "map/land.json.gz",
        "map",
        "",
        "map/../demo/clips.csv",
        "map/%2e%2e/demo/clips.csv",
        "..%2fsecret.css",
        "%2fetc%2fpasswd",
        "map/names.js%00.css",
        "x" * 3000,
    ],
)
def test_nothing_else_is_served(small: TestClient, path: str) -> None:
    assert small.get(f"/static/{path}").status_code == 404


def test_assets_contain_only_what_browsers_get(client: TestClient) -> None:
    files = [path for path in static.ASSETS.rglob("*") if path.is_file()]
    names = [path.relative_to(static.ASSETS).as_posix().removesuffix(".gz") for path in files]
    assert len(names) > 15
    assert [name for name in names if client.get(f"/static/{name}").status_code != 200] == []


def test_compressed_files_are_sent_compressed(small: TestClient, assets: Path) -> None:
    with small.stream("GET", "/static/map/land.json") as response:
        raw = b"".join(response.iter_raw())
    assert raw == (assets / "map/land.json.gz").read_bytes()
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["content-type"] == "application/json"
    assert response.headers["vary"] == "Accept-Encoding"


def test_compressed_files_are_decompressed_if_necessary(small: TestClient) -> None:
    response = small.get("/static/map/land.json", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in response.headers
    assert response.json() == {"land": []}


@pytest.mark.parametrize("path", ["style.css", "map/land.json"])
def test_versioned_addresses_are_cached_forever_and_others_are_checked(
    small: TestClient, path: str
) -> None:
    versioned = small.get(f"/static/{path}?v=0123")
    assert versioned.headers["cache-control"] == "public, max-age=31536000, immutable"
    plain = small.get(f"/static/{path}")
    assert plain.headers["cache-control"] == "no-cache"
    again = small.get(f"/static/{path}", headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_gradios_own_files_are_served_too(client: TestClient) -> None:
    own = Path(gradio.__file__).parent / "templates/frontend/static"
    names = [path.relative_to(own).as_posix() for path in own.rglob("*") if path.is_file()]
    assert names
    assert all(client.get(f"/static/{name}").status_code == 200 for name in names[:5])


@pytest.mark.parametrize("name", ["leaflet.js", "leaflet.css"])
def test_leaflet_is_served_from_its_wheel(client: TestClient, name: str) -> None:
    response = client.get("/" + leaflet_url(name))
    assert response.status_code == 200
    assert "leaflet" in response.text
    assert response.headers["cache-control"].endswith("immutable")


@pytest.mark.parametrize("name", ["worldmap.js", "worldmap.css", "player.js", "map/basemap.js"])
def test_static_url_is_relative_and_leads_to_the_file(client: TestClient, name: str) -> None:
    url = static_url(name)
    assert url.startswith(f"static/{name}?v=")
    assert client.get("/" + url).content == (static.ASSETS / name).read_bytes()


def test_static_url_of_a_missing_file_fails_early() -> None:
    with pytest.raises(Agl1kError, match=r"no-such-file\.js is missing\. .*restore it"):
        static_url("no-such-file.js")


def test_a_missing_folder_of_assets_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match=r"away is missing\. "):
        mount_static(FastAPI(), tmp_path / "away")


def test_every_map_file_is_json(client: TestClient) -> None:
    packed = [path.stem for path in (static.ASSETS / "map").glob("*.json.gz")]
    assert len(packed) == 5
    for name in packed:
        assert json.loads(client.get(f"/static/map/{name}").content)


def test_the_page_is_compressed_and_sounds_and_events_are_not() -> None:
    app = FastAPI()
    mount_static(app)
    for path in ("/", "/config", "/clip/x"):
        app.get(path)(lambda: {"text": "x" * 5000})
    client = TestClient(app)
    packed = {
        path: client.get(path).headers.get("Content-Encoding")
        for path in ("/", "/config", "/clip/x")
    }
    assert packed == {"/": "gzip", "/config": "gzip", "/clip/x": None}
    plain = client.get("/", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.json() == client.get("/").json()
