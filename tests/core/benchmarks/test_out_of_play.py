"""Clips that the game leaves out, by key or project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agl1k_core.benchmarks import PUBLISHED_FILE, Benchmark, open_table, read_folder, read_published
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError, FileRefusedError

TABLE = """key,latitude,longitude,file,title,description
a,1,2,a.mp3,Harbour,
b,3,4,b.mp3,Ward,Project: Voices of the Ward
c,5,6,c.mp3,VOICES OF THE WARD 2,
"""


def folder_with(folder: Path, listed: str = "", info: str = "") -> Benchmark:
    (folder / "clips.csv").write_text(TABLE, "utf-8")
    if listed:
        (folder / "out_of_play.csv").write_text(listed, "utf-8")
    if info:
        (folder / "benchmark.json").write_text(info, "utf-8")
    return read_folder(folder)


def test_a_key_and_a_project(tmp_path: Path) -> None:
    whole = folder_with(tmp_path)
    assert whole.in_play == ("a", "b", "c")
    listed = "key,project,reason\na,,asked\n,voices of the ward,patients\n"
    benchmark = folder_with(tmp_path, listed)
    assert benchmark.out_of_play == {"a": "asked", "b": "patients", "c": "patients"}
    assert benchmark.in_play == ()
    assert len(benchmark) == 3
    assert benchmark.content_hash == whole.content_hash


def test_all_problems_of_a_list(tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError) as refused:
        folder_with(tmp_path, "key,project,reason\nz,,asked\n,,asked\na,Ward,asked\nb,,\n")
    told = str(refused.value)
    assert all(f"line {line}" in told for line in (2, 3, 4, 5))
    with pytest.raises(FileRefusedError, match="there is no column 'reason'"):
        folder_with(tmp_path, "key,project,why\na,,asked\n")


def test_titles_are_shown_if_the_keeper_says_so(tmp_path: Path) -> None:
    assert not folder_with(tmp_path).shows_titles
    assert folder_with(tmp_path, info='{"titles": "show"}').shows_titles
    with pytest.raises(Agl1kError, match="\"titles\" is 'yes'"):
        folder_with(tmp_path, info='{"titles": "yes"}')


@pytest.mark.shared
def test_the_memorial_is_out_of_play_and_on_the_board(shared_data: Path) -> None:
    benchmark = read_published(shared_data / PUBLISHED_FILE)
    project = {c.key for c in benchmark.clips if "a moment of silence" in c.description.casefold()}
    assert len(project) == 10
    assert {*benchmark.out_of_play} == project
    assert (len(benchmark), len(benchmark.in_play)) == (1444, 1434)
    assert not benchmark.shows_titles
    first = benchmark.clips[0]
    assert first.url == f"https://archive.org/details/{first.key}"


def test_a_list_beside_a_table_of_another_source(tmp_path: Path) -> None:
    table = tmp_path / "clips.geojson"
    point = {"type": "Point", "coordinates": [2.0, 1.0]}
    feature = {"type": "Feature", "id": "a", "properties": None, "geometry": point}
    table.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}), "utf-8")
    (tmp_path / "out_of_play.csv").write_text("key,project,reason\na,,asked\n", "utf-8")
    benchmark, _ = open_table(table, Config.from_env({}))
    assert (len(benchmark), benchmark.in_play) == (1, ())
