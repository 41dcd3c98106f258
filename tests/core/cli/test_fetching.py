"""fetch: the published table and its recordings, from a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agl1k_core import benchmarks
from agl1k_core.cli.main import app
from agl1k_core.config import Config
from tests.support import sounds
from tests.support.hostile_server import HASTY, HostileServer, hostile_server

HEADER = (
    "key,short_key,longitude,latitude,altitude,description,title,mp3name,mp3seconds,city,country,"
    "continent,human_sounds,animal,music,natural_sounds,channel_environment_and_background,"
    "sounds_of_things,source_ambiguous_sounds"
)
ROW = "{key},1,17.08,-22.56,,d,t,same name.mp3,2,Windhoek,Namibia,Africa,1,0,0,0,0,0.5,1,0"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileServer]:
    """A server with the table of two clips that share a file name, and the sound of one."""
    with hostile_server() as server:
        table = "\n".join([HEADER, ROW.format(key="a_1"), ROW.format(key="a_2")]) + "\n"
        server.put("/table.csv", table.encode())
        server.put("/a_1/same%20name.mp3", sounds.mp3(tmp_path))
        monkeypatch.setenv("AGL1K_TABLE_URL", f"{server.url}/table.csv")
        monkeypatch.setenv("AGL1K_AUDIO_URL", f"{server.url}/{{key}}/{{file_name}}")
        yield server


def test_fetch_brings_the_table_for_scoring(source: HostileServer, tmp_path: Path) -> None:
    result = run("fetch")
    assert result.exit_code == 0, result.stderr
    assert "2 clips in" in result.stdout
    assert [request.path for request in source.requests] == ["/table.csv"]
    path = tmp_path / "p.json"
    path.write_text('[{"key": "a_1", "latitude": -22.56, "longitude": 17.08}]')
    scored = json.loads(run("score", path, "-b", "agl1k", "--json").stdout)
    assert (scored["benchmark"], scored["statuses"]["missing"]) == ("agl1k", 1)


def test_fetch_recordings_reports_failures_and_keeps_the_rest(
    source: HostileServer, tmp_path: Path
) -> None:
    result = run("fetch", "--recordings")
    assert result.exit_code == 1
    assert "1 fetched, 0 already there, 1 failed" in result.stdout
    assert "a_2" in result.stdout
    kept = [path.name for path in (tmp_path / "data" / "agl1k" / "audio").glob("*.mp3")]
    assert kept == ["a_1.mp3"]
    again = run("fetch", "--clip", "a_1")
    assert again.exit_code == 0
    assert "1 already there" in again.stdout


def test_fetch_of_a_clip_that_does_not_exist(source: HostileServer) -> None:
    result = run("fetch", "--clip", "nowhere")
    assert result.exit_code == 1
    assert "AGL1K has no clip nowhere" in result.stderr


def test_a_broken_table_does_not_replace_a_good_one(
    source: HostileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("fetch")
    bring_table = benchmarks.bring_table

    def hastily(config: Config, patience: object) -> Path:
        return bring_table(config, patience=HASTY)

    monkeypatch.setattr(benchmarks, "bring_table", hastily)
    source.put("/table.csv", b"<html>not a table</html>")
    result = run("fetch")
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    table = tmp_path / "data" / "agl1k" / benchmarks.PUBLISHED_FILE
    assert table.read_text().startswith("key,short_key")
