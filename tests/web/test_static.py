"""What browsers may fetch, and what they may not."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import urljoin

import gradio
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agl1k_core.errors import Agl1kError
from web import static
from web.gradio_adapter import BUILD_FOLDER
from web.packed import KEEP_FOREVER
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


@pytest.mark.parametrize("name", ["style.css", "map/countries.json", "map/basemap.js"])
def test_current_addresses_are_kept_forever_and_others_are_checked(
    client: TestClient, name: str
) -> None:
    address = static_url(name)
    assert client.get(f"/{address}").headers["cache-control"] == KEEP_FOREVER
    for other in (f"static/{name}", f"static/0123456789/{name}"):  # of an older page
        answer = client.get(f"/{other}")
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.content == client.get(f"/{address}").content
        again = client.get(f"/{other}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_a_changed_file_is_served_as_it_is_now(small: TestClient, assets: Path) -> None:
    before = small.get("/static/style.css")
    (assets / "style.css").write_text("b{}")
    os.utime(assets / "style.css", ns=(1, 1))
    asked = {"If-None-Match": before.headers["etag"]}
    assert small.get("/static/style.css", headers=asked).text == "b{}"


def test_files_shrink_when_they_are_wanted_again(client: TestClient) -> None:
    def size() -> int:
        with client.stream("GET", "/static/leaderboard.js") as answer:
            assert answer.headers["content-encoding"] == "br"
            return len(b"".join(answer.iter_raw()))

    first = size()
    size()
    assert size() < first
    assert client.get("/static/leaderboard.js").text == static.asset("leaderboard.js").read_text()


def test_little_is_kept_of_many_large_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "MOST_KEPT_BYTES", 3000)
    files = {f"{n}.bin": tmp_path / f"{n}.bin" for n in range(9)}
    for n, path in enumerate(files.values()):
        path.write_bytes(bytes([n]) * 1000)
    served = TestClient(static.PackedFiles(files))
    for _ in range(2):
        assert [served.get(f"/{n}.bin").content[:1] for n in range(9)] == [
            bytes([n]) for n in range(9)
        ]


def test_files_are_only_read(small: TestClient) -> None:
    assert small.post("/static/style.css").status_code == 405
    head = small.head("/static/style.css")
    assert (head.status_code, head.headers["content-length"]) == (200, "3")


def test_gradios_own_files_are_served_too(client: TestClient) -> None:
    own = Path(gradio.__file__).parent / "templates/frontend/static"
    names = [path.relative_to(own).as_posix() for path in own.rglob("*") if path.is_file()]
    assert names
    assert all(client.get(f"/static/{name}").status_code == 200 for name in names[:5])


def test_gradios_scripts_are_kept_forever_and_other_sites_may_load_them(client: TestClient) -> None:
    for path in sorted(BUILD_FOLDER.glob("[iI]ndex-*.js"))[:5]:
        answer = client.get(f"/assets/{path.name}")
        assert answer.content == path.read_bytes()
        assert answer.headers["cache-control"] == KEEP_FOREVER
        assert answer.headers["access-control-allow-origin"] == "*"
    assert client.get("/assets/../index.html").status_code == 404
    assert client.get("/assets/%2e%2e/index.html").status_code == 404


@pytest.mark.parametrize("name", ["leaflet.js", "leaflet.css"])
def test_leaflet_is_served_from_its_wheel(client: TestClient, name: str) -> None:
    response = client.get("/" + leaflet_url(name))
    assert response.status_code == 200
    assert "leaflet" in response.text
    assert response.headers["cache-control"].endswith("immutable")


@pytest.mark.parametrize("name", ["worldmap.js", "worldmap.css", "player.js", "map/basemap.js"])
def test_static_url_is_relative_and_leads_to_the_file(client: TestClient, name: str) -> None:
    url = static_url(name)
    assert re.fullmatch(rf"static/[0-9a-f]{{10}}/{name}", url)
    assert client.get("/" + url).content == (static.ASSETS / name).read_bytes()


def test_a_module_finds_others_under_the_same_hash(client: TestClient) -> None:
    """Modules import each other by relative addresses."""
    worldmap = "/" + static_url("worldmap.js")
    for name in re.findall(r"from '(\./[^']+)'", client.get(worldmap).text):
        answer = client.get(urljoin(worldmap, name))
        assert answer.headers["cache-control"] == KEEP_FOREVER


def test_all_modules_that_one_imports_are_found(client: TestClient) -> None:
    found = static.modules("play/stage.js")
    assert found[0] == "play/stage.js"
    assert {"worldmap.js", "player.js", "play/api.js", "map/basemap.js", "map/names.js"} <= {*found}
    assert static.modules("map/names.js") == ("map/names.js",)
    assert all(client.get("/" + static_url(name)).status_code == 200 for name in found)


def test_another_content_has_another_address(
    assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = shutil.copytree(assets, tmp_path / "changed")
    (changed / "map/names.js").write_text("export const a = 1;")
    found = set()
    for folder in (assets, changed):
        monkeypatch.setattr(static, "ASSETS", folder)
        found.add(static_url("style.css"))
    assert len(found) == 2


def test_static_url_of_a_missing_file_fails_early() -> None:
    with pytest.raises(Agl1kError, match=r"no-such-file\.js is missing\. .*restore it"):
        static_url("no-such-file.js")


def test_a_missing_folder_of_assets_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match=r"away is missing\. "):
        mount_static(FastAPI(), tmp_path / "away")


def test_every_map_file_is_json(client: TestClient) -> None:
    packed = [path.stem for path in (static.ASSETS / "map").glob("*.json.gz")]
    assert len(packed) == 6
    for name in packed:
        assert json.loads(client.get(f"/static/map/{name}").content)
