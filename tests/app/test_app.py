"""The whole app in one process: what is served, what is refused, and what nobody may see."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import app as app_module
from agl1k_core import __version__, benchmarks
from agl1k_core.benchmarks import Registry
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from web import static, uploads
from web.settings import Settings


def settings_in(folder: Path, **env: str) -> Settings:
    return Settings.from_env({"AGL1K_DATA": str(folder), "AGL1K_MAX_UPLOAD_MB": "1", **env})


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    return app_module.create_app(settings_in(tmp_path_factory.mktemp("app")))


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as started:
        yield started


def test_it_is_healthy(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "version": __version__}


def test_the_page_and_its_files_are_served(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "AGL1K" in page.text
    for address in ("static/style.css", "static/game.css", "vendor/leaflet/leaflet.js"):
        assert client.get(address).status_code == 200, address


@pytest.mark.parametrize(
    "address",
    ["static/demo/clips.csv", "static/demo/d01.mp3", "static/published_results.csv",
     "static/../app.py", "gradio_api/file=agl1k_core/benchmarks/demo/clips.csv",
     "file=agl1k_core/benchmarks/demo/clips.csv"],
)  # fmt: skip
def test_the_truth_is_not_served(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code >= 400
    assert "demo_01" not in answer.text


def test_page_and_config_name_no_clip_and_no_place(client: TestClient, app: FastAPI) -> None:
    demo = app.state.services.registry.benchmarks["demo"]
    texts = [client.get(address).text for address in ("/", "/config", "/gradio_api/info")]
    assert all(len(text) > 1000 for text in texts)
    for clip in demo.clips:
        for secret in (clip.key, clip.title, clip.file_name, f"{clip.lat}", f"{clip.lon}"):
            assert not any(secret in text for text in texts), secret


def test_a_large_body_is_refused_with_a_sentence(client: TestClient) -> None:
    answer = client.post("/gradio_api/upload", content=b"x" * (3 * 2**20))
    assert answer.status_code == 413
    assert "the limit is 2 MB" in answer.text


def test_a_large_body_without_a_length_is_refused(client: TestClient) -> None:
    chunks = (b"x" * 2**19 for _ in range(8))
    headers = {"Content-Type": "application/json"}
    answer = client.post("/gradio_api/run/predict", content=chunks, headers=headers)
    assert answer.status_code == 413


def test_agl1k_has_a_board_without_its_table(client: TestClient) -> None:
    rows = client.get("/api/leaderboard?board=agl1k").json()["rows"]
    assert len(rows) == 19
    assert {row["kind"] for row in rows} == {"reported"}


def test_a_missing_file_of_the_pages_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    assets = tmp_path / "assets"
    shutil.copytree(static.ASSETS, assets, ignore=shutil.ignore_patterns("player.js"))
    monkeypatch.setattr(static, "ASSETS", assets)
    assert app_module.main(["--host", "127.0.0.1", "--port", "0"]) == 1
    assert f"{assets / 'player.js'} is missing. " in capsys.readouterr().err


def test_an_app_that_cannot_start_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path))
    monkeypatch.setenv("AGL1K_BENCHMARK", "nowhere")
    assert app_module.main([]) == 1
    told = capsys.readouterr().err
    assert "There is no benchmark 'nowhere'" in told
    assert "Traceback" not in told


def test_rounds_survive_a_restart(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    tokens: list[str] = []
    for _ in range(2):
        services = app_module.open_services(settings)
        player = tokens[0] if tokens else services.game.new_player()
        view = services.game.resume(player) or services.game.start_free(player, "demo")
        tokens += [player, view.token]
        services.close()
    assert tokens[1] == tokens[3]


# --- the registry -----------------------------------------------------------------------------


def published(config: Config) -> Path:
    path = benchmarks.published_table(config)
    path.parent.mkdir(parents=True)
    names = "key,short_key,longitude,latitude,altitude,description,title,mp3name,mp3seconds,city"
    names += ",country,continent,human_sounds,animal,music,natural_sounds"
    names += ",channel_environment_and_background,sounds_of_things,source_ambiguous_sounds"
    row = "a_1,1,17.08,-22.56,,d,t,S.mp3,12.5,Windhoek,Namibia,Africa,1,0,0,0,0,0.5,1,0"
    path.write_text(f"{names}\n{row}\n")
    return path


def opened(settings: Settings, fetch: object = None) -> Registry:
    return benchmarks.open_registry(settings.config, fetch=fetch)  # type: ignore[arg-type]


def test_agl1k_is_fetched_once_when_it_is_chosen(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, AGL1K_BENCHMARK="agl1k")
    found = opened(settings, published)
    assert (found.default, found.problems) == ("agl1k", ())
    assert set(found.benchmarks) == {"demo", "agl1k"}
    assert opened(settings, lambda _: pytest.fail("fetched twice")).default == "agl1k"


def test_without_network_the_demo_is_played_and_the_problem_is_reported(tmp_path: Path) -> None:
    def offline(config: Config) -> None:
        raise Agl1kError("No network.")

    found = opened(settings_in(tmp_path, AGL1K_BENCHMARK="agl1k"), offline)
    assert (found.default, set(found.benchmarks)) == ("demo", {"demo"})
    assert "the demo pack is played instead. No network." in found.problems[0]


def test_a_folder_can_be_a_benchmark(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "clips.csv").write_text("key,latitude,longitude,file\nx,1,2,x.mp3\n")
    found = opened(settings_in(tmp_path, AGL1K_BENCHMARK=str(folder)))
    assert (found.default, set(found.benchmarks)) == ("own", {"demo", "own"})


def test_nothing_is_fetched_unless_agl1k_is_chosen(tmp_path: Path) -> None:
    found = opened(settings_in(tmp_path), lambda _: pytest.fail("fetched"))
    assert (found.default, found.problems) == ("demo", ())


# --- uploads ----------------------------------------------------------------------------------


def test_an_upload_cannot_name_a_file_of_the_server(client: TestClient) -> None:
    clips = Path(app_module.__file__).parent / "agl1k_core" / "benchmarks" / "demo" / "clips.csv"
    named = {"path": str(clips), "meta": {"_type": "gradio.FileData"}}
    for endpoint, data in (("dry_run", [named, ""]), ("leaderboard", [named, ""])):
        answer = client.post(f"/gradio_api/run/{endpoint}", json={"data": data})
        assert answer.status_code == 500
        assert "There is no board" not in answer.text, "the file was taken"
        assert "/gradio/" not in answer.text


def test_uploads_are_swept_while_the_app_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[Path] = []
    monkeypatch.setattr(uploads, "sweep", lambda folder, **_: swept.append(folder))
    settings = settings_in(tmp_path, AGL1K_UPLOADS=str(tmp_path / "files"))
    with TestClient(app_module.create_app(settings)) as client:
        assert client.get("/healthz").status_code == 200
    assert swept == [tmp_path / "files"]


def test_an_upload_is_used_by_those_who_know_its_name_and_never_served(client: TestClient) -> None:
    table = client.get("/api/leaderboard/example.json").content
    [path] = client.post("/gradio_api/upload", files={"files": ("a.json", table)}).json()
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    tried = client.post("/gradio_api/run/dry_run", json={"data": [file, ""]})
    assert tried.json()["data"][0]["accepted"] is True
    folder = client.app.state.services.uploads.folder  # type: ignore[attr-defined]
    for served in (path, f"{folder}/{path}"):
        for address in ("file=", "file/", "stream/", "proxy=file://"):
            assert client.get(f"/gradio_api/{address}{served}").status_code == 404
    other = {**file, "path": f"{'0' * 32}/a.json"}
    refused = client.post("/gradio_api/run/dry_run", json={"data": [other, ""]})
    assert "no longer on the server" in refused.text


def test_a_folder_without_recordings_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    (folder / "clips.csv").write_text("key,latitude,longitude,file\na,1,2,a.mp3\nb,3,4,b.mp3\n")
    settings = settings_in(tmp_path / "data", AGL1K_BENCHMARK=str(folder))
    [problem] = benchmarks.open_registry(settings.config).problems
    assert "can be scored on but not played: none of its 2 recordings is in" in problem
    (folder / "b.mp3").write_bytes(b"sound")
    assert benchmarks.open_registry(settings.config).problems == ()


def test_rounds_and_published_files_are_limited_per_hour(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, AGL1K_ROUNDS_PER_HOUR="1", AGL1K_PUBLISH_PER_HOUR="0")
    app = app_module.create_app(settings)
    with TestClient(app) as client:
        first, second = (client.post("/api/play/open", json={}) for _ in range(2))
        assert first.status_code == 200
        assert second.status_code in (429, 503)
        assert "Too many rounds started on this site within an hour." in second.json()["error"]
        assert int(second.headers["Retry-After"]) > 0
        table = client.get("/api/leaderboard/example.json").content
        [path] = client.post("/gradio_api/upload", files={"files": ("a.json", table)}).json()
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        told = client.post(
            "/gradio_api/run/publish",
            json={
                "data": [file, "", "Model", "", "", "open", "", "", True, "", "", ""],
                "session_hash": "s",
            },
        )
        assert "its limit of files published is 0" in told.json()["error"]
