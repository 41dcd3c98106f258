"""Which files of a folder are analyzed: none is lost, and none is taken twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agl1k_core.benchmarks import recordings_in
from agl1k_core.config import Config
from agl1k_core.curation import Analyzer, open_collection
from agl1k_core.errors import Agl1kError
from tests.support import raw_recordings as raw


def names(folder: Path, found: list[Path]) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in found]


def test_a_folder_s_files_are_found_once(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    for name in ("b.WAV", "a.mp3", "sub/c.flac", ".hidden.wav", ".git/d.wav", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "no file.wav").mkdir()
    taken, passed = recordings_in([folder, folder / "a.mp3", tmp_path / "gone.wav"])
    assert taken[-1] == tmp_path / "gone.wav"
    assert names(folder, taken[:-1]) == ["a.mp3", "b.WAV", "sub/c.flac"]
    assert names(folder, passed) == ["notes.txt"]
    with pytest.raises(Agl1kError, match="No recordings were found there"):
        recordings_in([folder / "no file.wav"])


def test_links_are_followed_and_broken_ones_reported(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "raw", tmp_path / "disk"
    folder.mkdir()
    elsewhere.mkdir()
    raw.write_sound(elsewhere / "a.wav", 1, speech=True)
    (folder / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(folder)  # a circle
    (folder / "dead.wav").symlink_to(tmp_path / "nowhere.wav")
    (folder / "round.wav").symlink_to(folder / "round.wav")
    taken, _ = recordings_in([folder])
    assert names(folder, taken) == ["dead.wav", "linked/a.wav", "round.wav"]
    outcomes = [Analyzer().analyze(path).outcome for path in taken]
    assert outcomes[:2] == ["missing", "ok"]
    assert outcomes[2] in ("missing", "unreadable")


def test_a_broken_link_in_the_table_is_reported_once(tmp_path: Path) -> None:
    for name in ("dead", "stray"):
        (tmp_path / f"{name}.wav").symlink_to(tmp_path / "nowhere.wav")
    raw.write_table(tmp_path, [{"key": "a", "latitude": 1, "longitude": 2, "file": "dead.wav"}])
    collection = open_collection(tmp_path, None, Config.from_env({}))
    assert collection.files == {"a": None}
    assert names(tmp_path, list(collection.unlisted)) == ["stray.wav"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anywhere")
def test_a_folder_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    raw.write_sound(tmp_path / "a.wav", 1, speech=True)
    (tmp_path / "locked").mkdir(mode=0)
    taken, _ = recordings_in([tmp_path])
    assert names(tmp_path, taken) == ["a.wav", "locked"]
    assert Analyzer().analyze(taken[1]).outcome == "unreadable"
