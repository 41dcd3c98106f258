"""Benchmarks as datasets: there and back, what is left out, and what must not be in them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import datasets
import pyarrow.parquet as pq
import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from mutagen import id3

from agl1k_core import scoring
from agl1k_core.audio import written_tags
from agl1k_core.benchmarks import (
    Benchmark,
    Clip,
    find_recording,
    load_benchmark,
    read_demo,
    read_folder,
    read_tags,
)
from agl1k_core.config import Config
from agl1k_core.curation import export_dataset
from agl1k_core.errors import Agl1kError, FileRefusedError
from agl1k_core.predictions import read_predictions
from tests.support import raw_recordings as raw

LAYOUTS = ("parquet", "audiofolder", "folder")
TAGS = {
    "tagger": {"name": "yamnet"},
    "localizability": {"theta": 0.25, "data_sha256": "abc"},
    "clips": {
        "007": {"presence": {"/m/09x0r": 0.4}, "localizability": None},
        "nd": {"presence": {}, "localizability": 1.5},
    },
}
#: Clips by key, with whatever a table may hold.
ODD: dict[str, dict[str, object]] = {
    "007": {"latitude": 48.123456789012345, "longitude": 179.99999999999997, "human": 0.1,
            "title": "=1+1, \"quoted\"; a|b", "file": "deep/er/seven.WAV"},
    "Brücke im Süden": {"latitude": -0.0, "longitude": 1e-9, "city": "none", "country": "Ghana",
               "nature": 0.30000000000000004, "animal": 0, "licence": "CC BY 4.0"},
    "東京\u3000鐘 🔔": {"latitude": 35.7, "longitude": 139.7, "author": "A. B.",
                 "description": "two\nlines, and U+2028 \u2028 here", "recorded": "2008-07"},
    "Cafe\u0301": {"latitude": "-90", "longitude": "-180", "continent": "Antarctica",
                   "url": "https://example.org/x?a=1&b=2", "duration_s": 12.3456789},
    "silent": {"latitude": 1, "longitude": 2, "file": "gone.mp3", "licence": "CC0 1.0"},
    "broken": {"latitude": 3, "longitude": 4},
    "nd": {"latitude": 5, "longitude": 6, "licence": "CC BY-NC-ND 4.0"},
    "mine": {"latitude": 7, "longitude": 8, "licence": "© 2020 Jo, all rights reserved"},
}  # fmt: skip
INFO = {"slug": "odd-one", "name": "Odd | *one*", "version": "7", "notice": "Beware.",
        "titles": "show", "licence": "CC BY-SA 4.0"}  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.from_env({"AGL1K_DATA": str(tmp_path / "data")})


@pytest.fixture
def odd(tmp_path: Path) -> Benchmark:
    """A folder with clips that are odd in every way."""
    folder = tmp_path / "odd"
    (folder / "deep" / "er").mkdir(parents=True)
    names = dict.fromkeys(name for row in ODD.values() for name in row)
    rows: list[dict[str, object]] = []
    for seed, (key, row) in enumerate(ODD.items()):
        name = str(row.get("file", f"{seed}.wav"))
        rows.append({"key": key, **{n: row.get(n, "") for n in names}, "file": name})
        if key == "broken":
            (folder / name).write_bytes(b"no sound")
        elif key != "silent":
            raw.write_sound(folder / name, seed, speech=True)
    raw.write_table(folder, rows)
    (folder / "benchmark.json").write_text(json.dumps(INFO))
    (folder / "tags.json").write_text(json.dumps(TAGS))
    (folder / "out_of_play.csv").write_text(
        "key,project,reason\n007,,They asked\n,U+2028,A project\nnd,,Also\n", "utf-8"
    )
    return read_folder(folder)


def everything(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def without(benchmark: Benchmark, *keys: str) -> Benchmark:
    return replace(benchmark, clips=tuple(c for c in benchmark.clips if c.key not in keys))


def score(benchmark: Benchmark, file: Path) -> str:
    """All numbers of a file, in words: one that is not known is equal to itself."""
    told = scoring.evaluate(benchmark, read_predictions(file, benchmark))
    return repr((told.metrics, told.intervals, told.subsets, told.subset_intervals))


def samples(benchmark: Benchmark, key: str) -> bytes | None:
    assert benchmark.audio_dir
    path = find_recording(benchmark, benchmark.clip(key), benchmark.audio_dir)
    return path.read_bytes() if path else None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_demo_pack_comes_back(layout: str, tmp_path: Path, config: Config) -> None:
    demo = read_demo()
    done = export_dataset(demo, tmp_path / "out", layout=layout)
    assert (done.left_out, done.silent) == ({}, {})
    back = load_benchmark(tmp_path / "out", config)
    assert back.clips == demo.clips
    assert back.content_hash == demo.content_hash
    assert (back.slug, back.name, back.notice) == (demo.slug, demo.name, demo.notice)
    assert read_tags(back.audio_dir) == read_tags(demo.audio_dir)
    again = export_dataset(back, tmp_path / "again", layout="folder").benchmark
    assert load_benchmark(tmp_path / "again", config).content_hash == demo.content_hash
    assert {key: samples(again, key) for key in demo.index} == {
        key: samples(load_benchmark(tmp_path / "again"), key) for key in demo.index
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_odd_clips_come_back(layout: str, odd: Benchmark, tmp_path: Path, config: Config) -> None:
    done = export_dataset(odd, tmp_path / "out", layout=layout)
    assert list(done.left_out) == ["nd", "mine"]
    assert "forbids derivatives" in done.left_out["nd"]
    assert "forbids redistribution" in done.left_out["mine"]
    assert list(done.silent) == ["silent", "broken"]
    back, kept = load_benchmark(tmp_path / "out", config), without(odd, "nd", "mine")
    assert back.clips == kept.clips
    assert back.content_hash == kept.content_hash
    assert [*back.subsets] == [*kept.subsets]
    assert dict(back.out_of_play) == {"007": "They asked", "東京\u3000鐘 🔔": "A project"}
    assert (back.slug, back.version, back.shows_titles) == ("odd-one", "7", True)
    assert read_tags(back.audio_dir).theta == 0.25
    assert list(read_tags(back.audio_dir).clips) == ["007"]
    assert samples(back, "007") == samples(load_benchmark(tmp_path / "out", config), "007") != None  # noqa: E711
    assert samples(back, "silent") is None
    assert samples(back, "broken") is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_prediction_file_scores_the_same(
    layout: str, odd: Benchmark, tmp_path: Path, config: Config
) -> None:
    file = tmp_path / "mine.json"
    answers = [{"key": clip.key, "latitude": 40.0 + n, "longitude": 130.0, "country": "Ghana"}
               for n, clip in enumerate(odd.clips[:5])]  # fmt: skip
    answers[0]["key"] = "007.wav"
    file.write_text(json.dumps(answers))
    export_dataset(odd, tmp_path / "out", layout=layout)
    back = load_benchmark(tmp_path / "out", config)
    assert score(back, file) == score(without(odd, "nd", "mine"), file)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_text_and_number_comes_back(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(str.strip)
    share = st.none() | st.floats(0, 1)
    clips = [
        Clip(
            f"k{n}",
            data.draw(st.floats(-90, 90)),
            data.draw(st.floats(-180, 180)),
            city=data.draw(texts) or "x",
            country=data.draw(texts) or "y",
            continent=data.draw(texts) or "z",
            title=data.draw(texts),
            author=data.draw(texts),
            duration_s=data.draw(st.none() | st.floats(0, 1e6)),
            classes={n: v for n in ("human", "things") if (v := data.draw(share)) is not None},
        )
        for n in range(3)
    ]
    made = Benchmark("any", "Any", "1", tuple(clips))
    folder = tmp_path_factory.mktemp("any")
    for layout in ("audiofolder", "folder"):
        export_dataset(made, folder / layout, layout=layout)
        back = load_benchmark(folder / layout)
        assert back.content_hash == made.content_hash
        assert back.clips == made.clips


# --- datasets, card and map ----------------------------------------------------------------------


def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The dataset as users load it, without torchcodec, which turns files into samples."""
    monkeypatch.setattr(
        datasets.Audio, "encode_example", lambda _, value: value and {"bytes": None, "path": value}
    )
    cache = str(folder.parent / "cache")
    return datasets.load_dataset(str(folder), split="test", cache_dir=cache)


@pytest.mark.parametrize("layout", ["parquet", "audiofolder"])
def test_load_dataset_knows_the_sound(
    layout: str, odd: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_dataset(odd, tmp_path / "out", layout=layout)
    rows = loaded(tmp_path / "out", monkeypatch)
    assert isinstance(rows.features["audio"], datasets.Audio)
    assert rows.features["latitude"] == datasets.Value("float64")
    assert rows["key"][:] == ["007", "Brücke im Süden", "東京\u3000鐘 🔔", "Cafe\u0301", "silent",
                              "broken"]  # fmt: skip
    plain = rows.cast_column("audio", datasets.Audio(decode=False))
    audio = plain[0]["audio"]
    content = audio["bytes"] or Path(audio["path"]).read_bytes()
    assert content.startswith(b"RIFF")
    assert plain[4]["audio"] is None
    assert plain[0]["author"] is None
    assert plain[1]["nature"] == 0.30000000000000004


def test_many_clips_are_several_files_and_groups(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (read_demo().audio_dir or Path()).joinpath("d01.mp3").stat().st_size
    monkeypatch.setattr("agl1k_core.curation.dataset_files.GROUP_BYTES", 2 * size)
    monkeypatch.setattr("agl1k_core.curation.dataset_files.FILE_BYTES", 8 * size)
    export_dataset(read_demo(), tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out" / "data").iterdir())
    assert len(names) > 1
    assert names == [f"test-{n:05}-of-{len(names):05}.parquet" for n in range(len(names))]
    files = [pq.ParquetFile(tmp_path / "out" / "data" / name) for name in names]
    assert max(file.num_row_groups for file in files) > 1
    assert load_benchmark(tmp_path / "out", config).clips == read_demo().clips


def test_the_same_benchmark_gives_the_same_bytes(odd: Benchmark, tmp_path: Path) -> None:
    for name in ("a/out", "b/out"):
        export_dataset(odd, tmp_path / name)
    assert everything(tmp_path / "a") == everything(tmp_path / "b")


def test_the_card_counts_and_draws(odd: Benchmark, tmp_path: Path) -> None:
    export_dataset(odd, tmp_path / "out", name="ada/odd")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    _, head, body = card.split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["license"] == ["cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0"]
    assert told["pretty_name"] == "Odd | *one*"
    assert told["configs"][0]["data_files"][0]["split"] == "test"
    assert "# Odd \\| \\*one\\*" in body
    assert "| Ghana | 1 |" in body
    assert "| CC BY-SA 4.0 | 4 |" in body
    assert "| speech | 1 |" in body
    assert "2 clips left out" in body
    assert 'load_dataset("ada/odd", split="test")' in body
    assert "--benchmark hub:ada/odd" in body
    svg = ElementTree.parse(tmp_path / "out" / "map.svg")
    dots = svg.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(dots) == 6
    assert (dots[2].get("cx"), dots[2].get("cy")) == ("799", "121")  # Tokyo


# --- without places ------------------------------------------------------------------------------

TELLING = ("48.1234", "179.99", "Ghana", "Antarctica", "example.org", "2008", "quoted", "Beware",
           "seven", "project", "asked")  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_tells_the_place(
    layout: str, odd: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_dataset(odd, tmp_path / "out", layout=layout, with_truth=False)
    names = {path.name for path in (tmp_path / "out").rglob("*")}
    assert not names & {"map.svg", "tags.json", "out_of_play.csv"}
    if layout == "parquet":
        rows = loaded(tmp_path / "out", monkeypatch)
        columns = {*rows.column_names}
        assert columns == {"key", "audio", "file", "author", "licence", "short_key", "duration_s",
                           "human", "animal", "music", "nature", "channel", "environment",
                           "things", "ambiguous"}  # fmt: skip
        plain = rows.cast_column("audio", datasets.Audio(decode=False))
        told = [json.dumps(row, default=repr, ensure_ascii=False) for row in plain]
    else:
        table = "metadata.jsonl" if layout == "audiofolder" else "clips.csv"
        told = (tmp_path / "out" / table).read_text("utf-8").splitlines()
    said = "\n".join(told) + (tmp_path / "out" / "benchmark.json").read_text("utf-8")
    said += "".join(p.read_text("utf-8") for p in (tmp_path / "out").glob("README.md"))
    assert not [word for word in TELLING if word in said]
    assert json.loads((tmp_path / "out" / "benchmark.json").read_text())["sealed"] is True


def test_neighbours_in_the_table_are_none_in_the_copy(tmp_path: Path) -> None:
    export_dataset(read_demo(), tmp_path / "out", layout="folder", with_truth=False)
    keys = [row["key"] for row in raw.read_csv(tmp_path / "out" / "clips.csv")]
    assert sorted(keys) == sorted(read_demo().index)
    assert keys not in (sorted(keys), sorted(keys)[::-1])


def sounds_with_tags(path: Path) -> Path:
    """A recording of the demo pack with a place and a title in its tags."""
    demo = read_demo()
    found = samples(demo, demo.clips[0].key)
    assert found
    path.write_bytes(found)
    tags = id3.ID3()
    tags.add(id3.TXXX(encoding=3, desc="LOCATION", text=["48.85, 2.35"]))
    tags.add(id3.TIT2(encoding=3, text=["Paris 48.85"]))
    tags.save(path)
    return path


@pytest.mark.parametrize("with_truth", [True, False])
def test_tags_of_recordings_are_not_copied(with_truth: bool, tmp_path: Path) -> None:
    folder = tmp_path / "tagged"
    folder.mkdir()
    recording = sounds_with_tags(folder / "a.mp3")
    raw.write_table(folder, [{"key": "a", "latitude": 1, "longitude": 2, "file": "a.mp3"}])
    assert "48.85" in str(written_tags(recording))
    export_dataset(read_folder(folder), tmp_path / "out", with_truth=with_truth)
    (file,) = (tmp_path / "out" / "data").iterdir()
    for row in pq.read_table(file).to_pylist():
        copy = tmp_path / row["audio"]["path"]
        copy.write_bytes(row["audio"]["bytes"])
        assert b"48.85" not in copy.read_bytes()
        assert {*written_tags(copy)} <= {"encoder"}


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("key", "essaouira-01", "Essaouira"),
        ("key", "x_MOROCCO", "Morocco"),
        ("key", "Marokko 3", "Marokko"),
        ("key", "MA-17", "MA"),
        ("key", "at 31.51 9.77", "31.51"),
        ("short_key", "africa1 africa", "Africa"),
        ("author", "Radio Essaouira", "Essaouira"),
    ],
)
def test_keys_and_authors_that_tell_the_place_are_refused(
    field: str, text: str, told: str, tmp_path: Path
) -> None:
    clip = Clip("a", 31.513, -9.77, "Essaouira", "Morocco", "Africa")
    clip = replace(clip, **{field: text})  # type: ignore[arg-type]
    with pytest.raises(FileRefusedError, match=f"{field}.*{told}"):
        export_dataset(
            Benchmark("b", "B", "1", (clip,)), tmp_path / "out", layout="folder", with_truth=False
        )
    assert not list(tmp_path.iterdir())


def test_other_keys_tell_nothing(tmp_path: Path) -> None:
    key = "bird-in-it-re-31.5-europa2"
    clip = Clip(key, 46.1, 8.5, "Re", "Italy", "Europe", author="Jo Ital")
    made = Benchmark("b", "B", "1", (clip,))
    done = export_dataset(made, tmp_path / "out", layout="folder", with_truth=False)
    assert len(done.benchmark) == 1


# --- refusals ------------------------------------------------------------------------------------


def test_a_folder_with_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export_dataset(read_demo(), tmp_path / "out", layout="folder")  # empty: fine
    before = everything(tmp_path)
    with pytest.raises(Agl1kError, match="is there already"):
        export_dataset(read_demo(), tmp_path / "out")
    assert everything(tmp_path) == before


def test_nothing_is_written_into_the_source(odd: Benchmark, tmp_path: Path) -> None:
    before = everything(tmp_path / "odd")
    with pytest.raises(Agl1kError, match="inside the benchmark's folder"):
        export_dataset(odd, tmp_path / "odd" / "out")
    export_dataset(odd, tmp_path / "out", with_truth=False)
    assert everything(tmp_path / "odd") == before


def test_an_interrupted_export_leaves_nothing(odd: Benchmark, tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_dataset(odd, tmp_path / "out", copied=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["odd"]


def test_licences_may_forbid_every_clip(tmp_path: Path) -> None:
    clip = Clip("a", 1, 2, licence="CC BY-ND 4.0")
    with pytest.raises(Agl1kError, match="No clip may be given away"):
        export_dataset(Benchmark("b", "B", "1", (clip,)), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_the_places_of_a_sealed_benchmark_are_not_written(odd: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "odd" / "benchmark.json").write_text(json.dumps({**INFO, "sealed": True}))
    sealed = read_folder(tmp_path / "odd")
    with pytest.raises(Agl1kError, match="sealed: its places are secret"):
        export_dataset(sealed, tmp_path / "out")
    export_dataset(sealed, tmp_path / "out", with_truth=False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sealed_copy_opens_without_places(
    layout: str, odd: Benchmark, tmp_path: Path, config: Config
) -> None:
    export_dataset(odd, tmp_path / "out", layout=layout, with_truth=False)
    copy = load_benchmark(tmp_path / "out", config)
    assert (copy.sealed, copy.has_truth, copy.slug) == (True, False, odd.slug)
    assert {clip.key for clip in copy.clips} == {*odd.index} - {"nd", "mine"}
    assert samples(copy, "007")
    with pytest.raises(Agl1kError, match="sealed: its places are secret"):
        export_dataset(copy, tmp_path / "again")
    export_dataset(copy, tmp_path / "again", with_truth=False)
