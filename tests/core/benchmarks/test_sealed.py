"""Sealed benchmarks as folders: the server's, with all places, and a public copy, with none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agl1k_core.benchmarks import Benchmark, open_registry, read_folder
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError, FileRefusedError
from tests.support.processes import run_python


def folder(path: Path, sealed: object, *lines: str) -> Path:
    path.mkdir(exist_ok=True)
    (path / "benchmark.json").write_text(json.dumps({"name": "Mine", "sealed": sealed}))
    (path / "clips.csv").write_text("\n".join(lines) + "\n")
    return path


WITH = ("key,latitude,longitude,file", "a,48.86,2.35,a.mp3", "b,-18.1,178.4,b.mp3")
WITHOUT = ("key,file", "a,a.mp3", "b,b.mp3")
EMPTY = ("key,latitude,longitude,file,city", "a,,,a.mp3,", "b,,,b.mp3,")


@pytest.mark.parametrize("sealed", [True, "true"])
@pytest.mark.parametrize(("lines", "has_truth"), [(WITH, True), (WITHOUT, False), (EMPTY, False)])
def test_a_sealed_folder_has_all_places_or_none(
    tmp_path: Path, sealed: object, lines: tuple[str, ...], has_truth: bool
) -> None:
    found = read_folder(folder(tmp_path / "x", sealed, *lines))
    assert (found.sealed, found.has_truth, len(found)) == (True, has_truth, 2)
    assert [clip.city for clip in found.clips] == (["Paris", "Suva"] if has_truth else ["", ""])


@pytest.mark.parametrize("sealed", [False, "false"])
def test_other_folders_need_places(tmp_path: Path, sealed: object) -> None:
    assert not read_folder(folder(tmp_path / "x", sealed, *WITH)).sealed
    with pytest.raises(FileRefusedError, match="no column 'latitude'"):
        read_folder(folder(tmp_path / "x", sealed, *WITHOUT))
    with pytest.raises(FileRefusedError, match="field latitude: it is empty"):
        read_folder(folder(tmp_path / "x", sealed, *EMPTY))


def test_a_place_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    lines = ("key,latitude,longitude,file", "a,48.86,2.35,a.mp3", "b,,,b.mp3", "c,1,,c.mp3")
    with pytest.raises(FileRefusedError) as refused:
        read_folder(folder(tmp_path / "x", True, *lines))
    assert "line 3, clip b, field latitude: it is empty, but other clips" in str(refused.value)
    assert "line 4, clip c, field longitude: it is empty" in str(refused.value)


@pytest.mark.parametrize("sealed", ["yes", 1, None])
def test_what_was_not_understood_is_no_seal(tmp_path: Path, sealed: object) -> None:
    with pytest.raises(Agl1kError, match=r'"sealed" is .* Set it to "true" or "false"'):
        read_folder(folder(tmp_path / "x", sealed, *WITH))


def registry_of(path: Path) -> Benchmark:
    found = open_registry(Config.from_env({"AGL1K_BENCHMARK": str(path), "AGL1K_DATA": str(path)}))
    return found.benchmarks[found.default]


def test_a_server_needs_the_places_of_enough_clips(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="public copy of a sealed benchmark"):
        registry_of(folder(tmp_path / "x", True, *WITHOUT))
    with pytest.raises(Agl1kError, match="at least 30"):
        registry_of(folder(tmp_path / "x", True, *WITH))
    many = (WITH[0], *(f"c{i},{i},{i},c{i}.mp3" for i in range(30)))
    assert registry_of(folder(tmp_path / "x", True, *many)).sealed


@pytest.mark.server
def test_the_command_line_says_where_the_places_are(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([{"key": "a", "latitude": 1, "longitude": 2}]))
    copy = folder(tmp_path / "x", True, *WITHOUT)
    done = run_python("-m", "agl1k_core", "score", str(answers), "--benchmark", str(copy))
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "Mine is sealed: its true places are with the server that keeps its board" in said
    assert "Traceback" not in said
