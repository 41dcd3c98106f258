"""Good tables, the one known defect, and every other mismatch."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core import benchmarks
from agl1k_core.benchmarks import Benchmark, Clip, TableRow
from agl1k_core.config import Config
from agl1k_core.errors import MOST_SHOWN, Agl1kError, FileRefusedError, Problems

BROKEN_HEADER = (
    "key,short_key,longitude,latitude,altitude,description,title,mp3name,mp3seconds,city,country,"
    "continent,human_sounds,animal,music,natural_sounds,channel_environment_and_background,"
    "sounds_of_things,source_ambiguous_sounds"
)
WHOLE_HEADER = BROKEN_HEADER.replace("channel_", "channel,")
NAMIBIA = (
    'a_1,1,17.08,-22.56,,"two\nlines, and <b>","t",S.mp3,12.5,Windhoek,NA,Africa,1,0,0,0,0,0.5,1,0'
)
PRESTON = "a_2,2,-2.7,53.75,22,d,t,S.mp3,99,Preston,United Kingdom,Europe,0,0.2,0,0,0,0,0,0"


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize("header", [BROKEN_HEADER, WHOLE_HEADER])
def test_published_table_with_and_without_its_defect(table: Path, header: str) -> None:
    benchmark = benchmarks.read_published(write(table, header, NAMIBIA, PRESTON))
    first, second = benchmark.clips
    assert (first.key, first.lat, first.lon) == ("a_1", -22.56, 17.08)
    assert (first.classes["environment"], first.classes["things"]) == (0.5, 1)
    assert first.country == "NA"
    assert benchmark.country_codes == ("NA", "GB")
    assert first.file_name == second.file_name == "S.mp3"
    assert list(benchmark.subsets["speech"]) == [True, False]
    assert list(benchmark.subsets["animal"]) == [False, True]


def test_defect_repair_shifts_no_column(table: Path) -> None:
    row = "k,1,2,3,4,d,t,f.mp3,10,C,Kenya,Africa,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8"
    clip = benchmarks.read_published(write(table, BROKEN_HEADER, row)).clips[0]
    assert dict(clip.classes) == {
        "human": 0.1, "animal": 0.2, "music": 0.3, "nature": 0.4, "channel": 0.5,
        "environment": 0.6, "things": 0.7, "ambiguous": 0.8,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "The file is empty"),
        ([BROKEN_HEADER], "the table has no clips"),
        ([BROKEN_HEADER, NAMIBIA, PRESTON + ",9"], "line 4: 21 fields where 20 are expected"),
        ([BROKEN_HEADER, NAMIBIA.rsplit(",", 1)[0]], "line 1: 19 names for 19 fields"),
        ([BROKEN_HEADER.replace("city", "town"), NAMIBIA], "line 1: 19 names for 20 fields"),
        ([WHOLE_HEADER.replace(",city", ""), NAMIBIA], "without city"),
        (
            [BROKEN_HEADER, NAMIBIA, NAMIBIA],
            "line 4, clip a_1, field key: the key is already on line 2",
        ),
        ([BROKEN_HEADER, NAMIBIA.replace("-22.56", "-122.56")], "field latitude: '-122.56'"),
        ([BROKEN_HEADER, NAMIBIA.replace("17.08", "nan")], "field longitude: 'nan'"),
        ([BROKEN_HEADER, NAMIBIA.replace("17.08", "")], "field longitude: it is empty"),
        ([BROKEN_HEADER, NAMIBIA.replace("a_1", "")], "field key: an empty key"),
    ],
)
def test_any_other_mismatch_names_line_and_count(
    table: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(FileRefusedError) as refused:
        benchmarks.read_published(write(table, *lines))
    assert message in str(refused.value)


def test_all_problems_are_listed_at_once(table: Path) -> None:
    bad = [NAMIBIA.replace("a_1", f"k{i}").replace("17.08", "far") for i in range(60)]
    with pytest.raises(FileRefusedError, match="60 problems") as refused:
        benchmarks.read_published(write(table, BROKEN_HEADER, *bad))
    assert len(refused.value.problems) == MOST_SHOWN
    assert "and 10 more like these" in str(refused.value)


def test_bytes_that_are_not_utf8(table: Path) -> None:
    table.write_bytes(BROKEN_HEADER.encode() + b"\nk\xff,1\n")
    with pytest.raises(FileRefusedError, match="line 2: bytes that are not UTF-8"):
        benchmarks.read_published(table)


# --- any table ----------------------------------------------------------------------------------

cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=8)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), max_size=6), st.booleans())
def test_written_rows_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], bom: bool
) -> None:
    path = tmp_path_factory.mktemp("table") / "t.csv"
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [["a", " b", "c"], *rows]
    )
    path.write_bytes(text.getvalue().encode("utf-8-sig" if bom else "utf-8"))
    problems = Problems("t.csv")
    found = [*benchmarks.read_rows(path, problems, lambda header, width, _: header)]
    assert problems.total == 0
    assert [[*row.fields.values()] for row in found] == [r for r in rows if any(map(str.strip, r))]
    assert all([*row.fields] == ["a", "b", "c"] for row in found)
    lines = text.getvalue().split("\n")
    assert all(lines[row.line - 1].startswith(f'"{row.fields["a"][:1].strip()}') for row in found)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
)
def test_a_number_is_read_if_it_is_within_its_limits(
    value: float, lowest: float, width: float
) -> None:
    problems = Problems("t.csv")
    row = TableRow(7, {"x": f" {value!r} ", "key": "k"}, problems)
    assert row.number("x", lowest, lowest + width) == value
    assert problems.total == (not lowest <= value <= lowest + width)
    assert all((problem.line, problem.field) == (7, "x") for problem in problems.shown)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "one", "1,5", "0x10"])
def test_what_is_not_a_number_is_a_problem(text: str) -> None:
    problems = Problems("t.csv")
    TableRow(2, {"x": text}, problems).number("x", 0)
    assert str(problems.shown[0]).startswith(f"line 2, field x: {text!r} is not a number of 0 or")


def test_an_empty_field_is_no_number() -> None:
    problems = Problems("t.csv")
    assert TableRow(2, {"x": " "}, problems).number("x", 0) is None
    assert TableRow(2, {}, problems).number("x", 0) is None
    assert problems.total == 0


TABLES = Path(__file__).parents[2] / "cases" / "tables"
TWO = [("a-1", 48.85, 2.35), ("b-2", 35.79, 129.3)]


@pytest.mark.parametrize(
    ("name", "clips"),
    [
        ("excel_semicolons.csv", TWO), ("excel_ghost_columns.csv", TWO),
        ("excel_ghost_rows.csv", TWO), ("tabs.csv", TWO[:1]), ("capital_header.csv", TWO[:1]),
        ("unicode_minus.csv", [("a-1", -22.9, -43.2)]), ("xeno_canto_date_00.csv", TWO),
    ],
)  # fmt: skip
def test_tables_as_spreadsheets_write_them(
    tmp_path: Path, name: str, clips: list[tuple[str, float, float]]
) -> None:
    (tmp_path / "clips.csv").write_bytes((TABLES / name).read_bytes())
    found = benchmarks.read_folder(tmp_path).clips
    assert [(clip.key, clip.lat, clip.lon) for clip in found] == clips


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nkey;latitude;longitude;file\na;1,5;−2,5;x.mp3\n",
        "\n\nKEY|Latitude|Longitude|File|\n\na|1.5|-2.5|x.mp3|\n|||\n",
        '"key"\t"latitude"\t"longitude"\t"file"\t\t\r\n"a"\t"1,5"\t"-2,5"\t"x.mp3"\t\t\r\n',
        ",key,latitude,longitude,file\n0,a,1.5,-2.5,x.mp3\n",
        'key,latitude,longitude,file,"a;b;c;d;e;f"\na,1.5,-2.5,x.mp3,\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_one_table_in_many_dialects(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "clips.csv").write_bytes(text.encode(encoding))
    clip = benchmarks.read_folder(tmp_path).clips[0]
    assert (clip.key, clip.lat, clip.lon, clip.file_name) == ("a", 1.5, -2.5, "x.mp3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "key,l\u0430titude,longitude,file\na,1,2,x\n",
            "cyrillic small letter a.*Rename it to lat",
        ),
        ("key,lat,longitude,file\na,1,2,x\n", "no column 'latitude', but 'lat'"),
        ("key,latitude,longitude,file\na,1,2,x,y\n", "line 2: 5 fields where 4 are expected"),
        ('key,latitude,longitude,file\na,1,2,"x\n', "line 2: unexpected end of data"),
        ('key,latitude,longitude,file\na,"1,5",2,x\n', "latitude: '1,5' is.*decimal point"),
        ("key,latitude,longitude,file\na,1,2,x\x00.mp3\n", "line 2: The file is binary"),
        (
            "key,latitude,longitude,file\ncaf\u00e9,1,2,x\ncafe\u0301,1,2,y\n",
            "line 3, .*the key is already on line 2",
        ),
    ],
)
def test_refusals_of_tables_name_what_is_there(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "clips.csv").write_text(text, encoding="utf-8")
    with pytest.raises(FileRefusedError, match=f"(?s){message}"):
        benchmarks.read_folder(tmp_path)


def test_keys_as_people_write_them() -> None:
    clips = (
        Clip("caf\u00e9-01", 0, 0, short_key="7"), Clip("B_2", 0, 0, short_key="8"),
        Clip("b_3", 0, 0, short_key="8"), Clip("x", 0, 0, short_key="B_2"), Clip("X", 0, 0),
        Clip("y.mp3", 0, 0), Clip("y", 0, 0),
    )  # fmt: skip
    benchmark = Benchmark("keys", "Keys", "1", clips)
    means = {
        "cafe\u0301-01": "caf\u00e9-01", "CAF\u00c9-01.WAV": "caf\u00e9-01", "7": "caf\u00e9-01",
        "b_2": "B_2", "B_2.mp3": "B_2", " b_3 ": "b_3", "8": None, "x": "x", "X": "X",
        "x.mp3": None, "y.mp3": "y.mp3", "Y.MP3": "y.mp3", "z": None, "": None,
    }  # fmt: skip
    assert {key: benchmark.resolve(key) for key in means} == means


# --- our own format -----------------------------------------------------------------------------


def folder_of(path: Path, header: str, *rows: str, info: Mapping[str, str] | None = None) -> Path:
    path.mkdir(exist_ok=True)
    write(path / "clips.csv", header, *rows)
    if info:
        (path / "benchmark.json").write_text(json.dumps(info), encoding="utf-8")
    return path


def test_folder_fills_labels_from_the_geocoder(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "My Sounds", "key,latitude,longitude,file,human", "x,31.513,-9.77,x.mp3,0.5"
    )
    benchmark = benchmarks.read_folder(folder)
    clip = benchmark.clips[0]
    assert (clip.city, clip.country, clip.continent) == ("Essaouira", "Morocco", "Africa")
    assert (benchmark.slug, benchmark.name, benchmark.version) == ("my-sounds", "My Sounds", "1")
    assert benchmark.audio_dir == folder
    assert list(benchmark.subsets["speech"]) == [True]


def test_folder_with_its_own_name(tmp_path: Path) -> None:
    info = {"slug": "s", "name": "N", "version": "7", "notice": "Hear, hear"}
    folder = folder_of(tmp_path / "f", "key,latitude,longitude,file", "x,1,2,x.mp3", info=info)
    benchmark = benchmarks.read_folder(folder)
    assert (benchmark.slug, benchmark.name, benchmark.version) == ("s", "N", "7")
    assert benchmark.notice == "Hear, hear"


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("key,latitude,file", "x,1,x.mp3", "there is no column 'longitude'"),
        ("key,latitude,longitude,file,key", "x,1,2,f,x", "duplicate columns: key"),
        ("key,latitude,longitude,file,human", "x,1,2,f,7", "'7' is not a number from 0 to 1"),
        ("key,latitude,longitude,file", "x,1,2,f,9", "5 fields where 4 are expected"),
    ],
)
def test_folder_mismatches(tmp_path: Path, header: str, row: str, message: str) -> None:
    with pytest.raises(FileRefusedError, match=message):
        benchmarks.read_folder(folder_of(tmp_path / "f", header, row))


def test_broken_benchmark_json(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "f", "key,latitude,longitude,file", "x,1,2,x.mp3")
    (folder / "benchmark.json").write_text("{", encoding="utf-8")
    with pytest.raises(Agl1kError, match=r"benchmark\.json is not JSON"):
        benchmarks.read_folder(folder)


# --- load -------------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.from_env({"AGL1K_DATA": str(tmp_path / "data")})


def test_load_says_how_to_fetch_the_published_table(config: Config) -> None:
    with pytest.raises(Agl1kError, match="agl1k fetch"):
        benchmarks.load_benchmark("agl1k", config)
    path = benchmarks.published_table(config)
    path.parent.mkdir(parents=True)
    write(path, BROKEN_HEADER, PRESTON)
    assert benchmarks.load_benchmark("agl1k", config).audio_dir == path.parent / "audio"


def test_load_by_path(config: Config, tmp_path: Path) -> None:
    table = write(tmp_path / "any.csv", BROKEN_HEADER, PRESTON)
    (tmp_path / "audio").mkdir()
    assert benchmarks.load_benchmark(str(table), config).audio_dir == tmp_path / "audio"
    folder = folder_of(tmp_path / "f", "key,latitude,longitude,file", "x,1,2,x.mp3")
    assert len(benchmarks.load_benchmark(str(folder), config)) == 1
    assert len(benchmarks.load_benchmark(folder / "clips.csv", config)) == 1
    with pytest.raises(Agl1kError, match="There is no benchmark 'nowhere'"):
        benchmarks.load_benchmark("nowhere", config)
    with pytest.raises(Agl1kError, match=r"has no clips\.csv"):
        benchmarks.load_benchmark(str(tmp_path / "audio"), config)


def test_load_reads_the_environment_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path))
    path = tmp_path / "agl1k" / benchmarks.PUBLISHED_FILE
    path.parent.mkdir()
    write(path, BROKEN_HEADER, PRESTON)
    assert benchmarks.load_benchmark("agl1k").audio_dir == path.parent / "audio"
    with pytest.raises(Agl1kError, match="There is no benchmark 'agl1k'"):
        benchmarks.load_benchmark(Path("agl1k"))


def test_the_content_hash_depends_on_content_only(table: Path, tmp_path: Path) -> None:
    one = benchmarks.read_published(write(table, BROKEN_HEADER, NAMIBIA, PRESTON))
    other = benchmarks.read_published(write(tmp_path / "o.csv", WHOLE_HEADER, PRESTON, NAMIBIA))
    moved = NAMIBIA.replace("17.08", "17.09")
    third = benchmarks.read_published(write(tmp_path / "p.csv", WHOLE_HEADER, PRESTON, moved))
    assert one.content_hash == other.content_hash != third.content_hash


@pytest.mark.shared
def test_the_published_table(shared_data: Path) -> None:
    benchmark: Benchmark = benchmarks.read_published(shared_data / benchmarks.PUBLISHED_FILE)
    assert len(benchmark) == 1444
    assert int(benchmark.subsets["speech"].sum()) == 1025
    assert len({*benchmark.country_codes}) == len({clip.country for clip in benchmark.clips}) == 72
    assert sum(clip.continent == "" for clip in benchmark.clips) == 6
    assert "" not in benchmark.continents
    assert sum(code == "NA" for code in benchmark.country_codes) == 6
