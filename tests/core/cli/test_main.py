"""The command line: exit codes, what goes to stdout and to stderr, the shape of --json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agl1k_core import __version__, benchmarks, scoring
from agl1k_core.cli.main import app
from tests.support import sounds
from tests.support.hostile_server import HostileServer, hostile_server

SHARED = Path(__file__).parents[4] / "shared" / "agl1k"


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGL1K_BENCHMARK", "AGL1K_AUDIO", "AGL1K_TABLE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "120")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def perfect(tmp_path: Path) -> Path:
    clips = benchmarks.read_demo().clips
    records = [
        {"key": clip.key, "latitude": clip.lat, "longitude": clip.lon, "country": clip.country}
        for clip in clips
    ]
    path = tmp_path / "perfect.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_score_json_is_one_object_with_the_documented_names(perfect: Path) -> None:
    result = run("score", perfect, "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert (told["benchmark"], told["protocol"], told["n_clips"]) == ("demo", "strict", 24)
    assert told["statuses"] == {
        "answered": 24, "refused": 0, "unparseable": 0, "error": 0, "missing": 0,
    }  # fmt: skip
    named = {
        "distance_km", "geoscore", "continent_accuracy", "country_accuracy", "city_accuracy",
        "reject_rate", "within_1km", "within_10km", "within_25km", "within_100km", "within_500km",
        "within_1000km", "distance_q25_km", "distance_q50_km", "distance_q75_km",
    }  # fmt: skip
    assert named <= told["metrics"].keys()
    assert told["metrics"].keys() == told["subsets"]["speech"].keys() == told["intervals"].keys()
    assert {"speech", "non_speech", "animal", "music", "nature", "things", "Europe"} <= told[
        "subsets"
    ].keys()
    assert told["metrics"]["distance_km"] < 1e-6
    assert told["metrics"]["country_accuracy"] == 1


def test_score_as_text(perfect: Path) -> None:
    result = run("score", perfect)
    assert result.exit_code == 0
    assert "24 answered" in result.stdout
    assert "geoscore" in result.stdout
    assert "5,000.0" in result.stdout


def test_a_refused_file_exits_with_1_and_lists_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('[{"key": "demo_01"}, {"key": "demo_01"}, {"key": "nowhere"}]')
    for command in ("score", "validate"):
        result = run(command, path)
        assert result.exit_code == 1
        assert "demo_01" in result.stderr
        assert "nowhere" in result.stderr
        assert "record 3" in result.stderr
        assert "Traceback" not in result.stderr


def test_validate_tells_what_was_understood(perfect: Path) -> None:
    result = run("validate", perfect)
    assert result.exit_code == 0
    assert "valid prediction file: 24 records" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [["score"], ["score", "no-such-file"], ["baseline", "clever", "-o", "x"], ["nonsense"],
     ["score", __file__, "--protocol", "people"]],
)  # fmt: skip
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("name", list(scoring.BASELINES))
def test_a_baseline_file_scores(name: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.csv"
    assert run("baseline", name, "-o", path).exit_code == 0
    result = run("score", path, "--json")
    assert json.loads(result.stdout)["statuses"]["answered"] == 24


def test_baseline_into_nowhere(tmp_path: Path) -> None:
    result = run("baseline", "random", "-o", tmp_path / "no" / "file.csv")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_compare_tells_the_paired_difference(perfect: Path, tmp_path: Path) -> None:
    path = tmp_path / "random.csv"
    run("baseline", "random", "-o", path)
    result = run("compare", perfect, path)
    assert result.exit_code == 0
    line = next(line for line in result.stdout.splitlines() if line.startswith("distance_km"))
    assert line.rstrip().endswith(" clear")
    assert "not clear" not in line


def test_unknown_benchmark_and_missing_table(perfect: Path) -> None:
    assert "agl1k fetch" in run("score", perfect, "-b", "agl1k").stderr
    result = run("score", perfect, "-b", "nowhere")
    assert result.exit_code == 1
    assert "There is no benchmark 'nowhere'" in result.stderr


def test_version() -> None:
    assert run("--version").stdout.strip() == __version__


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real AGL1K data is not beside this checkout")
def test_the_published_row_on_the_command_line() -> None:
    predictions, table = (
        SHARED / "predictions-qwen2.5-omni.json",
        SHARED / benchmarks.PUBLISHED_FILE,
    )
    result = run("score", predictions, "--benchmark", table, "--protocol", "paper", "--json")
    told = json.loads(result.stdout)
    assert round(told["metrics"]["distance_km"], 2) == 5476.83
    assert round(told["metrics"]["within_500km"], 4) == 0.1734
    assert round(told["metrics"]["within_1000km"], 4) == 0.2519


# --- fetch ------------------------------------------------------------------------------------

HEADER = (
    "key,short_key,longitude,latitude,altitude,description,title,mp3name,mp3seconds,city,country,"
    "continent,human_sounds,animal,music,natural_sounds,channel_environment_and_background,"
    "sounds_of_things,source_ambiguous_sounds"
)
ROW = "{key},1,17.08,-22.56,,d,t,same name.mp3,2,Windhoek,Namibia,Africa,1,0,0,0,0,0.5,1,0"


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


def test_fetch_brings_the_table_with_which_files_are_scored(
    source: HostileServer, tmp_path: Path
) -> None:
    result = run("fetch")
    assert result.exit_code == 0, result.stderr
    assert "2 clips in" in result.stdout
    assert [request.path for request in source.requests] == ["/table.csv"]
    path = tmp_path / "p.json"
    path.write_text('[{"key": "a_1", "latitude": -22.56, "longitude": 17.08}]')
    scored = json.loads(run("score", path, "-b", "agl1k", "--json").stdout)
    assert (scored["benchmark"], scored["statuses"]["missing"]) == ("agl1k", 1)


def test_fetch_recordings_tells_what_failed_and_keeps_the_rest(
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


def test_a_broken_table_does_not_replace_a_good_one(source: HostileServer, tmp_path: Path) -> None:
    run("fetch")
    source.put("/table.csv", b"<html>not a table</html>")
    result = run("fetch")
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    table = tmp_path / "data" / "agl1k" / benchmarks.PUBLISHED_FILE
    assert table.read_text().startswith("key,short_key")
