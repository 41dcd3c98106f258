"""Other people's tables become clips; what is wrong is named, what has no place is counted."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import (
    KINDS,
    Benchmark,
    forbidden_copy,
    load_benchmark,
    recorded_text,
    time_of,
)
from agl1k_core.benchmarks.sources import SOURCES, Document, Record, read_clips
from agl1k_core.benchmarks.sources.readers import Reader
from agl1k_core.errors import Agl1kError, FileRefusedError, Problems

XENO_CANTO = {
    "id": "694038", "gen": "Troglodytes", "sp": "troglodytes", "en": "Eurasian Wren",
    "rec": "Jo", "cnt": "France", "lat": "48.1", "lng": "2.2",
    "url": "//xeno-canto.org/694038", "file": "https://xeno-canto.org/694038/download",
    "file-name": "XC694038-wren.mp3", "lic": "//creativecommons.org/licenses/by-nc-nd/4.0/",
    "length": "1:07", "date": "2008-07-00", "time": "08:15",
}  # fmt: skip
NAMES = st.sampled_from(
    ["id", "key", "lat", "lng", "latitude", "longitude", "file_name", "file", "geotag", "date",
     "recordings", "audio", "features", "results", "geometry", "properties", "type", "coordinates",
     "location", "licence", "licenses", "categories", "annotations", "user", "adapt", "length"]
)  # fmt: skip
EARTH_HEADER = (
    "key,short_key,longitude,latitude,altitude,description,title,mp3name,mp3seconds,creator,date"
)
FREESOUND = {
    "id": 5, "name": "rain", "geotag": "41.2 2.16", "username": "ada", "type": "wav",
    "license": "http://creativecommons.org/licenses/by/4.0/", "created": "2014-04-16T20:07:11",
}  # fmt: skip
APOREE = {
    "file_name": "a/aporee_1_2.mp3", "title": "Harbour", "author": "Udo", "adapt": True,
    "licence": "CC BY-NC 4.0", "latitude": -8.05, "longitude": -34.88,
    "recording_date": "2012-03-04",
}  # fmt: skip


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    lines = isinstance(content, list) and path.suffix == ".jsonl"
    text = (
        content
        if isinstance(content, str)
        else "\n".join(map(json.dumps, content))
        if lines
        else json.dumps(content)
    )
    path.write_text(text, encoding="utf-8")
    return path


def loaded(path: Path, content: Any, kind: str = "") -> Benchmark:
    written(path, content)
    return load_benchmark(f"{kind}:{path}" if kind else path)


def refusal_of(path: Path, content: Any) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as refused:
        loaded(path, content)
    return refused.value


# --- the kinds ----------------------------------------------------------------------------------


def test_xeno_canto(tmp_path: Path) -> None:
    (clip,) = loaded(tmp_path / "xc.json", {"recordings": [XENO_CANTO]}).clips
    assert (clip.key, clip.lat, clip.lon, clip.country) == ("694038", 48.1, 2.2, "France")
    assert (clip.file_name, clip.duration_s) == ("XC694038-wren.mp3", 67)
    assert (clip.author, clip.licence) == ("Jo", "CC BY-NC-ND 4.0")
    assert (clip.url, clip.title) == ("https://xeno-canto.org/694038", "Eurasian Wren")
    assert clip.recorded == "2008-07"


def test_xeno_canto_as_pages_lines_table_and_packed(tmp_path: Path) -> None:
    second = {**XENO_CANTO, "id": "2", "lat": -10, "lng": 20}
    pages = [{"recordings": [XENO_CANTO]}, {"recordings": [second]}]
    expected = [("694038", 48.1, 2.2), ("2", -10, 20)]
    table = "id;lat;lng;file;lic\n694038;48,1;2,2;a.mp3;\n2;-10;20;b.mp3;\n"
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(pages).encode()))
    for benchmark in (
        loaded(tmp_path / "pages.json", pages),
        loaded(tmp_path / "bare.json", [XENO_CANTO, second]),
        loaded(tmp_path / "lines.jsonl", [XENO_CANTO, second]),
        loaded(tmp_path / "pages.jsonl", pages),
        loaded(tmp_path / "table.csv", table),
        load_benchmark(packed),
    ):
        assert [(clip.key, clip.lat, clip.lon) for clip in benchmark.clips] == expected


def test_freesound_has_the_time_of_the_upload_only(tmp_path: Path) -> None:
    (clip,) = loaded(tmp_path / "sounds.json", {"results": [FREESOUND]}).clips
    assert (clip.key, clip.lat, clip.lon) == ("5", 41.2, 2.16)
    assert (clip.file_name, clip.author, clip.licence) == ("rain.wav", "ada", "CC BY 4.0")
    assert clip.recorded == ""


def test_inatsounds_with_nulls(tmp_path: Path) -> None:
    frog = {
        "id": 1, "file_name": "train/b.wav", "latitude": 1.5, "longitude": 2.5, "license": 0,
        "date": "2019-01-01 10:00:00+00:00", "location_uncertainty": None, "rights_holder": "Rui",
    }  # fmt: skip
    nulls = dict.fromkeys(("latitude", "longitude", "date", "location_uncertainty"))
    coco = {
        "audio": [frog, {"id": 2, "file_name": "c.wav", **nulls}],
        "licenses": [{"id": 0, "url": "http://creativecommons.org/licenses/by-nc/4.0/"}],
        "categories": [{"id": 9, "common_name": "Tree frog"}],
        "annotations": [{"id": 1, "audio_id": 1, "category_id": 9}],
    }
    benchmark = loaded(tmp_path / "val.json", coco)
    (clip,) = benchmark.clips
    assert (clip.key, clip.file_name, clip.title) == ("1", "train/b.wav", "Tree frog")
    assert (clip.author, clip.licence) == ("Rui", "CC BY-NC 4.0")
    assert clip.recorded == "2019-01-01T10:00:00+00:00"
    assert benchmark.remarks == (
        "val.json: 1 of 2 records have no place and are left out (record 2).",
    )


def test_aporee_and_its_mark(tmp_path: Path) -> None:
    fixed = {**APOREE, "file_name": "b.mp3", "adapt": False}
    first, second = loaded(tmp_path / "a" / "metadata.jsonl", [APOREE, fixed]).clips
    assert (first.key, first.lat, first.lon) == ("a/aporee_1_2", -8.05, -34.88)
    assert (first.author, first.recorded) == ("Udo", "2012-03-04")
    assert first.licence == "CC BY-NC 4.0"
    assert second.licence == "CC BY-NC 4.0, no derivatives"


@pytest.mark.parametrize(
    ("mark", "forbids"),
    [
        ({"no_derivatives": True}, True),
        ({"No-Derivs": "yes"}, True),
        ({"nd": 1}, True),
        ({"is_nd": "true"}, True),
        ({"derivatives": "no"}, True),
        ({"derivatives_allowed": False}, True),
        ({"adaptations": "forbidden"}, True),
        ({"adapt": None}, False),
        ({"nd": 0}, False),
        ({"derivatives": "yes"}, False),
        ({"no_derivatives": False}, False),
        ({"adapted_from": False}, False),
    ],
)
def test_marks_of_recordings_that_may_not_be_changed(
    tmp_path: Path, mark: dict[str, object], forbids: bool
) -> None:
    (clip,) = loaded(tmp_path / "metadata.jsonl", [{**APOREE, "adapt": True} | mark]).clips
    assert bool(forbidden_copy(clip.licence)) is forbids


def test_soundingearth_and_audiofolder(tmp_path: Path) -> None:
    earth = (
        "key,longitude,latitude,mp3name,title,creator,licenseurl,date\n"
        "ap_1,-36.5,-15,a.mp3,Sea,Ada,http://creativecommons.org/licenses/by/3.0/,2011-02-30\n"
    )
    benchmark = loaded(tmp_path / "earth" / "metadata.csv", earth)
    (clip,) = benchmark.clips
    assert (clip.key, clip.lon, clip.file_name) == ("ap_1", -36.5, "a.mp3")
    assert (clip.author, clip.licence, clip.recorded) == ("Ada", "CC BY 3.0", "")
    assert benchmark.remarks == (
        "metadata.csv: the date cannot be read, and is left empty, in line 2.",
    )
    written(tmp_path / "hf" / "metadata.csv", "file_name,latitude,longitude\nx/a.wav,1,2\n")
    of_folder = load_benchmark(tmp_path / "hf")
    assert (of_folder.slug, of_folder.clips[0].key) == ("hf", "x/a")


def test_soundingearth_is_told_from_the_table_that_was_made_from_it(tmp_path: Path) -> None:
    text = f"{EARTH_HEADER}\nap_1,1,-36.5,-15,0,,Sea,a.mp3,61.5,Ada,2011-03-00\n"
    (clip,) = loaded(tmp_path / "earth" / "metadata.csv", text).clips
    assert (clip.author, clip.duration_s, clip.recorded) == ("Ada", 61.5, "2011-03")


def test_geojson_sequence(tmp_path: Path) -> None:
    lines = [
        {"type": "Feature", "properties": {"file": f"{n}.wav"},
         "geometry": {"type": "Point", "coordinates": [10 + n, n]}}
        for n in range(2)
    ]  # fmt: skip
    benchmark = loaded(tmp_path / "map.jsonl", lines)
    assert [(clip.key, clip.lat, clip.lon) for clip in benchmark.clips] == [
        ("0", 0, 10),
        ("1", 1, 11),
    ]


def test_vague_places_are_counted(tmp_path: Path) -> None:
    frog = {"id": None, "file_name": "a/b.wav", "latitude": 1, "longitude": 2}
    near, far = {**frog, "location_uncertainty": 12}, {**frog, "location_uncertainty": 28000}
    benchmark = loaded(tmp_path / "v.json", {"audio": [near, {**far, "file_name": "c.wav"}]})
    assert [clip.key for clip in benchmark.clips] == ["a/b", "c"]
    assert benchmark.remarks == ("v.json: the place is uncertain by more than 1 km in record 2.",)


def test_geojson(tmp_path: Path) -> None:
    def feature(number: int, geometry: object) -> dict[str, object]:
        return {"type": "Feature", "id": number, "properties": None, "geometry": geometry}

    point = {"type": "Point", "coordinates": [-36.4, -15.2, 12]}
    tree = {"type": "FeatureCollection", "features": [feature(7, point), feature(8, None)]}
    benchmark = loaded(tmp_path / "map.geojson", tree)
    assert [(clip.key, clip.lat, clip.lon) for clip in benchmark.clips] == [("7", -15.2, -36.4)]
    tree["features"] = [feature(7, {"type": "LineString", "coordinates": [[1, 2], [3, 4]]})]
    assert "record 1, clip 7, field point: the place is a LineString, not a Point" in str(
        refusal_of(tmp_path / "lines.geojson", tree)
    )


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[13.4, 52.5], [127.9, 37.4]], [(52.5, 13.4), (37.4, 127.9)]),
        ([[52.5, 13.4], [37.4, 127.9]], [(52.5, 13.4), (37.4, 127.9)]),
        ([["52.5", "13.4"], [-22.9, 316.8], None], [(52.5, 13.4), (-22.9, -43.2)]),
    ],
)
def test_all_lists_together_show_which_number_is_the_latitude(
    tmp_path: Path, points: list[object], expected: list[tuple[float, float]]
) -> None:
    records = [{"file_name": f"{n}.mp3", "coordinates": at} for n, at in enumerate(points)]
    benchmark = loaded(tmp_path / "metadata.jsonl", records)
    assert [(clip.lat, clip.lon) for clip in benchmark.clips] == expected


def test_all_records_are_looked_through_once() -> None:
    """Once for each record would take minutes for ten thousand of them."""
    source = next(source for source in SOURCES if source.name == "aporee")
    records = tuple(Record({**APOREE, "file_name": f"{n}.mp3"}, number=n) for n in range(1, 4))
    looked: list[Document] = []

    def reader(document: Document) -> Reader:
        looked.append(document)
        return source.reader(document)

    document = Document(Path("a.jsonl"), records, Problems("a.jsonl"))
    assert len(read_clips(document, replace(source, reader=reader)).clips) == 3
    assert len(looked) == 1


@pytest.mark.parametrize("points", [[[13.4, 52.5]], [[127.9, 37.4], [37.4, 127.9]], [[1, 2, 3]]])
def test_lists_that_do_not_show_it_are_refused(tmp_path: Path, points: list[object]) -> None:
    records = [{"file_name": f"{n}.mp3", "geo": at} for n, at in enumerate(points)]
    error = refusal_of(tmp_path / "metadata.json", records)
    assert error.total == len(points)
    assert "Give latitude and longitude in fields of their own" in str(error)


def test_a_key_may_be_zero_and_our_columns_keep_their_classes(tmp_path: Path) -> None:
    own = {"key": 0, "latitude": 1, "longitude": 2, "file": "a.wav", "human": 0.4, "animal": None}
    (clip,) = loaded(tmp_path / "own.json", [own]).clips
    assert (clip.key, clip.classes) == ("0", {"human": 0.4})
    error = refusal_of(
        tmp_path / "odd.json", [{**own, "human": "much"}, {**own, "key": 1, "music": 2}]
    )
    assert [(one.record, one.field) for one in error.problems] == [(1, "human"), (2, "music")]


def test_sequences_of_json(tmp_path: Path) -> None:
    text = "".join(f"\x1e{json.dumps({**APOREE, 'file_name': f'{n}.mp3'})}\n" for n in range(2))
    assert len(loaded(tmp_path / "metadata.jsonl", text)) == 2


# --- what is odd --------------------------------------------------------------------------------


def test_every_problem_at_once_with_its_line(tmp_path: Path) -> None:
    lines = [json.dumps(APOREE), '{"file_name": "b.mp3", "lat', json.dumps(APOREE)]
    lines.append(json.dumps({**APOREE, "file_name": "c.mp3", "latitude": 99}))
    error = refusal_of(tmp_path / "metadata.jsonl", "\n".join(lines))
    assert [(one.line, one.field) for one in error.problems] == [
        (2, None),
        (3, None),
        (4, "latitude"),
    ]
    assert "not JSON" in str(error)
    assert "the key is already on line 1" in str(error)


def test_a_first_line_that_is_broken(tmp_path: Path) -> None:
    lines = ["file_name", *(json.dumps({**APOREE, "file_name": f"{n}.mp3"}) for n in range(3))]
    error = refusal_of(tmp_path / "metadata.jsonl", "\n".join(lines))
    assert [one.line for one in error.problems] == [1]


def test_a_broken_line_of_a_table(tmp_path: Path) -> None:
    text = "file_name,latitude,longitude\na.wav,1,2\nb.wav,1\nc.wav,1,x\n"
    error = refusal_of(tmp_path / "metadata.csv", text)
    assert [one.line for one in error.problems] == [3, 4]


def test_our_own_table_says_what_to_do_about_longitudes_to_360(tmp_path: Path) -> None:
    error = refusal_of(tmp_path / "clips.csv", "key,latitude,longitude,file\na,1,323.5,a.wav\n")
    assert "line 2, clip a, field longitude" in str(error)
    assert "subtract 360" in str(error)


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(NAMES, inside, max_size=6),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(tree=VALUES, kind=st.sampled_from(["", *sorted({*KINDS} - {"hub"})]))
def test_any_json_is_read_or_refused(
    tree: object, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(tmp_path_factory.getbasetemp() / "any.json", json.dumps(tree))
    try:
        benchmark = load_benchmark(f"{kind}:{path}" if kind else path)
    except Agl1kError:
        return
    assert all(abs(clip.lat) <= 90 and abs(clip.lon) <= 180 for clip in benchmark.clips)
    assert len(benchmark) == len({*benchmark.index}) > 0


def test_longitudes_to_360_are_read_if_none_is_negative(tmp_path: Path) -> None:
    def at(*longitudes: float) -> list[dict[str, object]]:
        return [
            {"file_name": f"{n}.wav", "latitude": 1, "longitude": at}
            for n, at in enumerate(longitudes)
        ]

    around = loaded(tmp_path / "around.json", at(323.5, 127.9, 180, 360))
    assert [clip.lon for clip in around.clips] == [-36.5, 127.9, 180, 0]
    assert "longitudes from 0 to 360" in around.remarks[0]
    mixed = refusal_of(tmp_path / "mixed.json", at(-3, 300))
    assert [(one.record, one.field) for one in mixed.problems] == [(2, "longitude")]
    beyond = refusal_of(tmp_path / "beyond.json", at(3, 361))
    assert [one.record for one in beyond.problems] == [2]


@pytest.mark.parametrize("nothing", [None, "", " ", "null", "NaN", float("nan"), "N/A"])
def test_nothing_is_no_place(tmp_path: Path, nothing: object) -> None:
    records = [XENO_CANTO, {**XENO_CANTO, "id": "2", "lng": nothing}]
    benchmark = loaded(tmp_path / "xc.json", {"recordings": records})
    assert [clip.key for clip in benchmark.clips] == ["694038"]
    assert "1 of 2" in benchmark.remarks[0]


def test_the_name_of_a_place_is_no_point(tmp_path: Path) -> None:
    nowhere = {**APOREE, "file_name": "b.mp3", "latitude": None, "longitude": None}
    nowhere["location"] = "Porto, Portugal"
    benchmark = loaded(tmp_path / "metadata.jsonl", [APOREE, nowhere])
    assert len(benchmark) == 1


def test_recordings_without_a_place_are_known_by_name(tmp_path: Path) -> None:
    rows = [
        {"file_name": "a.wav", "latitude": 1, "longitude": 2},
        {"file_name": "b.wav", "latitude": None, "longitude": 2},
        {"file_name": "a.wav", "key": "again", "latitude": None, "longitude": None},
    ]
    benchmark = loaded(tmp_path / "metadata.jsonl", rows)
    assert {name: about.detail for name, about in benchmark.left_out.items()} == {
        "b.wav": "The table gives no place"
    }


@pytest.mark.parametrize("has_recordings", [False, pytest.param(True, marks=pytest.mark.server)])
def test_a_folder_whose_table_has_another_name(tmp_path: Path, has_recordings: bool) -> None:
    path = written(tmp_path / "q.json", {"recordings": [XENO_CANTO]})
    if has_recordings:
        (tmp_path / "a.wav").write_bytes(b"RIFF")
    with pytest.raises(
        Agl1kError, match=r"has no clips\.csv.*\nIt has q\.json\. Give the path"
    ) as none:
        load_benchmark(tmp_path)
    assert str(path) in str(none.value)
    written(tmp_path / "a.csv", "x")
    with pytest.raises(Agl1kError, match=r"It has a\.csv and 1 more\."):
        load_benchmark(tmp_path)


def test_a_file_without_any_place_is_refused(tmp_path: Path) -> None:
    error = refusal_of(tmp_path / "sounds.json", {"results": [{"id": 1, "geotag": None}]})
    assert "none of its 1 records has a place" in str(error)
    assert refusal_of(tmp_path / "none.json", {"recordings": []}).total == 1


def test_an_unknown_table_is_described_and_a_kind_can_be_forced(tmp_path: Path) -> None:
    error = refusal_of(tmp_path / "odd.json", [{"id": 3, "lat": 1, "lon": 2}])
    assert "the names of its fields are: id, lat, lon" in str(error)
    forced = load_benchmark(f"xeno-canto:{tmp_path / 'odd.json'}")
    assert forced.clips[0].file_name == "XC3.mp3"
    with pytest.raises(FileRefusedError, match="this is JSON"):
        load_benchmark(f"clips:{tmp_path / 'odd.json'}")
    with pytest.raises(Agl1kError, match="There is no benchmark 'nosuch:"):
        load_benchmark(f"nosuch:{tmp_path / 'odd.json'}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty"),
        ("\ufeff \n\n".encode("utf-16"), "The file is empty"),
        (gzip.compress(gzip.compress(b"key\n", mtime=0), mtime=0), "a gzip file inside another"),
        (b"PAR1\x00\x00PAR1", "a Parquet file"),
        (b"ID3\x04\x00\xff\xfb", "line 1: The file is binary"),
        (b"<html>404</html>", "the names of its fields are: <html>404</html>"),
        (b"# of 2024\nkey,lat\na,1\n", "1 problem\n.*names of its fields are: # of 2024"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(FileRefusedError, match=message):
        load_benchmark(path)


def test_tables_of_text_that_are_of_no_kind(tmp_path: Path) -> None:
    odd = refusal_of(tmp_path / "odd.csv", "a,b\n1,2\n")
    assert "the names of its fields are: a, b" in str(odd)
    nearly = refusal_of(tmp_path / "nearly.csv", "key,latitude,longitude\na,1,2\n")
    assert "there is no column 'file'" in str(nearly)
    written(tmp_path / "own.csv", "file_name,latitude,longitude\na.wav,1,2\n")
    with pytest.raises(FileRefusedError, match="there is no column 'key'"):
        load_benchmark(f"clips:{tmp_path / 'own.csv'}")


def test_cut_json_names_its_line(tmp_path: Path) -> None:
    error = refusal_of(tmp_path / "cut.json", '{"recordings": [\n{"id": 1,\n')
    assert error.problems[0].line == 3


def test_our_own_tables_are_among_the_kinds() -> None:
    assert list(KINDS)[:2] == ["clips", "agl1k"]


@pytest.mark.parametrize(
    ("date", "clock", "recorded"),
    [
        ("2008-07-00", "08:15", "2008-07"),
        ("2008-00-00", "", "2008"),
        ("0000-00-00", "08:15", ""),
        ("2009-05-03", "8:15", "2009-05-03T08:15"),
        ("2009-05-03", "?", "2009-05-03"),
        ("2009-05-03", "25:61", "2009-05-03"),
        ("2009-05-03 08:15:30", "", "2009-05-03T08:15:30"),
        ("2009-05-03T08:15:30.25Z", "", "2009-05-03T08:15:30Z"),
        ("2009/5/3", "", "2009-05-03"),
        ("2009", "", "2009"),
        ("2009-13-00", "", ""),
        ("03.05.2009", "", ""),
        ("last May", "", ""),
        (None, None, ""),
    ],
)
def test_dates(tmp_path: Path, date: object, clock: object, recorded: str) -> None:
    record = {**XENO_CANTO, "date": date, "time": clock}
    (clip,) = loaded(tmp_path / "xc.json", {"recordings": [record]}).clips
    assert clip.recorded == recorded


@given(
    date=st.from_regex(
        r"[0-9]{4}([-/.][0-9]{1,2}){0,2}([T ][0-9:]{1,8}([+-][0-9]{4}|Z)?)?", fullmatch=True
    ),
    clock=st.from_regex(r"[0-9]{1,2}[:.h][0-9]{2}(Z|[+-][0-9:]{4,5})?", fullmatch=True),
)
def test_a_date_that_was_read_is_a_time_or_a_day_that_is_not_known(date: str, clock: str) -> None:
    recorded = recorded_text(date, clock)
    if recorded:
        assert time_of(recorded) is not None or len(recorded) <= 7


# --- licences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("licence", "forbidden"),
    [
        ("CC BY-NC-ND 4.0", "derivatives"),
        ("https://creativecommons.org/licenses/by-nd/3.0/", "derivatives"),
        ("//creativecommons.org/licenses/by-nc-nd/2.5/", "derivatives"),
        ("Attribution-NonCommercial-NoDerivs", "derivatives"),
        ("CC BY, no derivatives", "derivatives"),
        ("All rights reserved", "redistribution"),
        ("© 2012 Ada", "redistribution"),
        ("Public Domain Mark 1.0", ""),
        ("CC BY-NC-SA 4.0", ""),
        ("CC0", ""),
        ("Attribution 4.0 (c) Linda Andersen", ""),
        ("", ""),
    ],
)
def test_what_a_licence_forbids(licence: str, forbidden: str) -> None:
    assert forbidden_copy(licence) == forbidden
