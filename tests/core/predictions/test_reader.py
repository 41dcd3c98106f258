"""Prediction files: every accepted shape gives one table, every bad one a list of problems."""

from __future__ import annotations

import copy
import csv
import gzip
import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import FileRefusedError
from agl1k_core.predictions import Predictions, read_predictions

FOUR = Benchmark(
    "four", "Four", "1",
    tuple(Clip(key, 1.0, 2.0) for key in ("paris", "nairobi", "suva", "windhoek")),
)  # fmt: skip
PARIS = {"latitude": 48.86, "longitude": 2.35, "city": "Paris", "country": "France",
         "continent": "Europe", "reason": "bells"}  # fmt: skip
SUVA = {"latitude": -18.14, "longitude": 178.44, "city": "Suva", "country": "Fiji",
        "continent": "Oceania", "reason": "surf"}  # fmt: skip
RECORDS = [{"key": "paris", **PARIS}, {"key": "suva", **SUVA}]
HEADER = "key,latitude,longitude,city,country,continent,reason\n"
CSV = (
    HEADER
    + "paris,48.86,2.35,Paris,France,Europe,bells\nsuva,-18.14,178.44,Suva,Fiji,Oceania,surf\n"
)


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def renamed(template: str) -> list[dict[str, object]]:
    return [{(k if k == "key" else template.format(k)): v for k, v in r.items()} for r in RECORDS]


SHAPES = {
    "list": as_json(RECORDS),
    "indented": json.dumps(RECORDS, indent=4).encode(),
    "spaced colons": json.dumps(RECORDS, separators=(" , ", " : ")).encode(),
    "keyed": as_json({"paris": PARIS, "suva": SUVA}),
    "keyed raw": as_json({"paris": json.dumps(PARIS), "suva": json.dumps(SUVA)}),
    "wrapped": as_json({"model": "m", "predictions": RECORDS}),
    "lines": b"\n".join(map(as_json, RECORDS)),
    "lines crlf": b"\r\n\r\n".join(map(as_json, RECORDS)) + b"\r\n",
    "csv": CSV.encode(),
    "csv crlf": CSV.replace("\n", "\r\n").encode(),
    "csv semicolons": CSV.replace(",", ";").encode(),
    "csv tabs": CSV.replace(",", "\t").encode(),
    "csv blank lines": CSV.replace("\n", "\n\n").encode(),
    "bom": b"\xef\xbb\xbf" + CSV.encode(),
    "bom json": b"\xef\xbb\xbf" + as_json(RECORDS),
    "utf-16": json.dumps(RECORDS).encode("utf-16"),
    "predicted": as_json(renamed("predicted_{}")),
    "predicted beside truth": as_json(
        [{**r, "latitude": 1, "city": "Rome", "true_city": "x"} for r in renamed("predicted_{}")]
    ),
    "raw text": as_json([{"id": r["key"], "answer": f"```{json.dumps(r)}```"} for r in RECORDS]),
    "raw object": as_json([{"clip": r["key"], "response": r} for r in RECORDS]),
    "numbered": as_json([{"id": i, "question_id": r["key"], **r} for i, r in enumerate(RECORDS)]),
    "nested": as_json([{"key": r["key"], "reason": r["reason"], "guess": r} for r in RECORDS]),
    "mixed": as_json([RECORDS[0], {"key": "suva", "model_output": json.dumps(SUVA)}]),
    "mixed order": as_json([dict(reversed(RECORDS[0].items())), RECORDS[1]]),
    "nan elsewhere": as_json(RECORDS)[:-2] + b', "score": NaN}]',
    "same value twice": as_json(RECORDS)[:-2] + b', "city": "Suva"}]',
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_accepted_shapes_give_the_same_table(shape: str) -> None:
    found = read_predictions(SHAPES[shape], FOUR)
    assert found.keys.tolist() == ["paris", "suva"]
    assert found.status.tolist() == ["answered", "answered"]
    assert found.lat.tolist() == [48.86, -18.14]
    assert found.lon.tolist() == [2.35, 178.44]
    assert found.city.tolist() == ["Paris", "Suva"]
    assert found.country.tolist() == ["France", "Fiji"]
    assert found.continent.tolist() == ["Europe", "Oceania"]
    assert found.reason.tolist() == ["bells", "surf"]
    assert [float(value) for value in found.given["latitude"]] == [48.86, -18.14]
    assert found.sha256 == hashlib.sha256(SHAPES[shape]).hexdigest()


def one(record: dict[str, object]) -> Predictions:
    return read_predictions(as_json([{"key": "paris", **record}]), FOUR)


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ({}, "error"),
        ({"latitude": None, "longitude": None, "city": ""}, "error"),
        ({"error": "timeout", "model_output": ""}, "error"),
        ({"model_output": "I'm sorry, I cannot tell."}, "refused"),
        ({"latitude": "0.0", "longitude": "0.0", "country": "Ghana"}, "refused"),
        ({"latitude": "N/A", "longitude": "N/A"}, "refused"),
        ({"latitude": "", "longitude": "", "country": "Unknown"}, "refused"),
        ({"latitude": "0", "longitude": 9}, "answered"),
        ({"latitude": "48.86° N", "longitude": "2.35° W"}, "answered"),
        ({"latitude": True, "longitude": 2}, "unparseable"),
        ({"latitude": [], "longitude": {}, "city": ["Paris"]}, "unparseable"),
        ({"latitude": 145.4, "longitude": 2}, "unparseable"),
        ({"latitude": "nan", "longitude": "inf"}, "unparseable"),
        ({"latitude": "", "longitude": "", "country": "France", "answer": "x"}, "unparseable"),
    ],
)
def test_a_bad_answer_is_a_status(record: dict[str, object], status: str) -> None:
    found = one(record)
    assert found.status.tolist() == [status]
    assert np.isfinite(found.lat).tolist() == [status == "answered"]
    assert np.isfinite(found.lon).tolist() == [status == "answered"]


def test_labels_and_raw_values_are_kept_beside_each_other() -> None:
    found = one(
        {"latitude": "Not specified", "longitude": "x", "city": "Unknown", "country": "Peru"}
    )
    assert (found.city[0], found.country[0], found.continent[0]) == ("", "Peru", "")
    assert {name: values[0] for name, values in found.given.items()} == {
        "latitude": "Not specified", "longitude": "x", "city": "Unknown", "country": "Peru",
        "continent": None,
    }  # fmt: skip


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_number_literals_that_are_no_coordinates(literal: str) -> None:
    text = f'[{{"key": "paris", "latitude": {literal}, "longitude": 2.0}}]'
    assert read_predictions(text.encode(), FOUR).status.tolist() == ["unparseable"]


def test_lone_surrogates_become_replacement_characters() -> None:
    found = read_predictions(
        b'[{"key":"paris","latitude":1.5,"longitude":2,"city":"\\ud800x"}]', FOUR
    )
    assert found.city.tolist() == ["\ufffdx"]


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "The file is empty"),
    "blank": (b" \n\n", "The file is empty"),
    "no records": (b"[]", "contains no predictions"),
    "header only": (HEADER.encode(), "contains no predictions"),
    "prose": (b"Dear board, here are my results.", "line 1: The first line names none of"),
    "number": (b"[1, 2]", r"record 1: The record is a number instead of an object.*record 2"),
    "text": (b'["a"]', "record 1: The record is text instead of an object"),
    "broken": (b'[{"key": "paris",\n "latitude": }]', "line 2: The JSON is cut off or invalid"),
    "cut": (as_json(RECORDS)[:-9], "The JSON is cut off"),
    "broken line": (b'{"key":"paris"}\n{"key":"suva"\n', "line 2: The line is not JSON"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "deep line": (b'{"key":"paris"}\n{"key":' + b"[" * 100_000, "line 2: The JSON is nested"),
    "zip": (b"PK\x03\x04....", "The file is a damaged ZIP archive"),
    "gzip": (gzip.compress(as_json(RECORDS))[:-9], "The gzip file has no end"),
    "packed twice": (gzip.compress(gzip.compress(as_json(RECORDS))), "a gzip file inside another"),
    "open header": (b'"key,latitude\nparis,1\n', "line 1: The header is broken"),
    "binary": (b"{\x00\x01\n", "The file is binary"),
    "latin-1": (CSV.replace("bells", "é").encode("latin-1"), "line 2: Byte .* is not UTF-8"),
    "latin-1 json": (b'[{"key": "\xe9"}]', "line 1: Byte 11 is not UTF-8"),
    "no id": (as_json([PARIS]), "record 1: The record has none of the fields key, id"),
    "null id": (as_json([{"key": None, **PARIS}]), "record 1: The record has none"),
    "no id column": (CSV.replace("key", "clip_name").encode(), "names none of the columns key"),
    "unknown clip": (as_json([{"key": "rome"}]), "record 1, clip rome: The benchmark four has no"),
    "twice": (as_json([RECORDS[0], RECORDS[0]]), "record 2, clip paris: .*already in record 1"),
    "twice keyed": (b'{"paris": {"lat":1,"lon":2}, "paris": {"lat":1,"lon":3}}', "it twice"),
    "twice field": (
        b'[{"key":"paris"},{"key":"suva","latitude":1,"latitude":2,"longitude":3}]',
        "record 2, field latitude: The record contains it twice",
    ),
    "twice field line": (
        b'{"key":"paris"}\n{"key":"suva","latitude":1,"latitude":2}', "record 2, line 2, field lat"
    ),
    "twice column": (b"key,city,city\nparis,a,b\n", "line 1, field city: The header contains it"),
    "ragged": (CSV.encode() + b"nairobi,1,2\n", "record 3, line 4: The row has 3 fields, .* 7"),
    "open quote": (HEADER.encode() + b'paris,1,2,"P\n', "line 2: The CSV is broken"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refused_files(name: str) -> None:
    data, message = BAD[name]
    with pytest.raises(FileRefusedError, match=f"(?s){message}") as caught:
        read_predictions(data, FOUR, name="mine.json")
    assert str(caught.value).startswith("mine.json was refused: ")
    assert all(problem.todo for problem in caught.value.problems)


def test_all_problems_at_once_in_the_order_of_the_file() -> None:
    records = [{"key": "rome"}, {"key": "paris"}, {"key": "oslo"}, {"key": "paris"}]
    with pytest.raises(FileRefusedError) as caught:
        read_predictions(as_json(records), FOUR)
    found = [(problem.record, problem.clip) for problem in caught.value.problems]
    assert found == [(1, "rome"), (3, "oslo"), (4, "paris")]


def test_many_problems_are_counted_not_listed() -> None:
    with pytest.raises(FileRefusedError, match=r"200 problems(?s:.*)and 150 more") as caught:
        read_predictions(as_json([{"key": f"x{i}"} for i in range(200)]), FOUR)
    assert len(caught.value.problems) == 50
    assert caught.value.total == 200


SURPLUS = 20_000
MANY = {
    "list": b"[" + b",".join([b"1"] * SURPLUS) + b"]",
    "keyed": as_json({f"x{i}": 1 for i in range(SURPLUS)}),
    "lines": b"".join(b'{"key": "x%d"}\n' % i for i in range(SURPLUS)),
    "csv": b"key,latitude,longitude\n" + b"x,1,2\n" * SURPLUS,
}


@pytest.mark.parametrize("shape", MANY)
def test_reading_ends_far_behind_the_number_of_clips(shape: str) -> None:
    with pytest.raises(FileRefusedError, match=r"1\. The file has more than 5,004 rec") as caught:
        read_predictions(MANY[shape], FOUR)
    assert len(caught.value.problems) == 50
    assert caught.value.total <= 2 * 5004 + 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"key," + b",".join(b"c%d" % i for i in range(200_000)), "header has 200,001 columns"),
        (as_json([{"key": "paris", **{f"c{i}": 1 for i in range(2000)}}]), "has 2,001 fields"),
    ],
    ids=["csv", "json"],
)
def test_fields_without_end_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileRefusedError, match=message):
        read_predictions(data, FOUR)


def test_lines_of_quoted_newlines_are_counted() -> None:
    text = 'key,latitude,longitude,reason\nparis,1,2,"a\nb"\nrome,1,2,x\n'
    with pytest.raises(FileRefusedError, match="record 2, line 4, clip rome"):
        read_predictions(text.encode(), FOUR)


def test_size_limit_and_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(SHAPES["list"])
    assert read_predictions(path, FOUR).source == "mine.txt"  # the name's ending does not matter
    with pytest.raises(FileRefusedError, match=r"mine\.txt was refused.*\n.*the limit is"):
        read_predictions(path, FOUR, max_bytes=10)
    with pytest.raises(FileRefusedError, match="cannot be opened: No such file"):
        read_predictions(tmp_path / "none.json", FOUR)


def test_large_files_are_read_in_several_parts() -> None:
    n = 120_001
    many = Benchmark("many", "Many", "1", tuple(Clip(f"c{i}", 0.0, 0.0) for i in range(n)))
    rows = "".join(f"c{i},{i % 90},{i % 180},x\n" for i in range(n))
    lines = "".join(
        f'{{"key":"c{i}","latitude":{i % 90},"longitude":{i % 180}}}\n' for i in range(n)
    )
    for text in (f"key,latitude,longitude,city\n{rows}", lines):
        found = read_predictions(text.encode(), many)
        assert found.keys.tolist() == [clip.key for clip in many.clips]
        assert Counter(found.status.tolist()) == {"answered": n - 667, "refused": 667}
        assert found.lat[n - 1] == (n - 1) % 90


def outcome(data: bytes) -> int:
    """Records or problems: a file ends in one of the two."""
    try:
        return len(read_predictions(data, FOUR))
    except FileRefusedError as error:
        return error.total


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_break_it(data: bytes) -> None:
    assert outcome(data) >= 1


@settings(deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)), st.integers(0, 400), st.integers(0, 9), st.binary(max_size=3)
)
def test_no_damage_to_a_file_breaks_it(shape: str, start: int, cut: int, put: bytes) -> None:
    data = SHAPES[shape]
    assert outcome(data[:start] + put + data[start + cut :]) >= 1


@pytest.mark.shared
def test_the_published_file(shared_data: Path) -> None:
    path = shared_data / "predictions-qwen2.5-omni.json"
    records: list[dict[str, Any]] = json.loads(path.read_bytes())
    clips = tuple(Clip(record["question_id"], 0.0, 0.0) for record in records)
    found = read_predictions(path, Benchmark("agl1k", "AGL1K", "1", clips))
    assert Counter(found.status.tolist()) == {"answered": 1058, "refused": 383, "unparseable": 1}
    odd = found.status.tolist().index("unparseable")
    assert found.given["latitude"][odd] == "Not specified"
    assert found.continent[odd] == "Europe or North America"
    assert found.given["city"].tolist() == [record["predicted_city"] for record in records]


# --- the same records in every shape ------------------------------------------------------------

COLUMNS = ("keys", "status", "lat", "lon", "city", "country", "continent", "reason")
texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12).map(
    str.strip
)
rows = st.fixed_dictionaries(
    {
        "latitude": st.sampled_from(["", "48.5", "12° N", "Unknown", "91", "-0.5"]) | texts,
        "longitude": st.sampled_from(["", "2.25", "-170", "200", "E 5"]) | texts,
        "city": st.sampled_from(["Paris", "東京", 'a"b', '":', "\\"]) | texts,
        "country": texts,
        "continent": texts,
        "reason": texts,
    }
)


def as_csv(records: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*records[0]], quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def table_of(source: Any) -> dict[str, list[str]]:
    found = read_predictions(source, FOUR)
    columns = {name: getattr(found, name) for name in COLUMNS}
    columns |= {f"given {name}": column for name, column in found.given.items()}
    return {name: list(map(repr, column)) for name, column in columns.items()}


@given(st.lists(rows, min_size=1, max_size=4))
def test_the_same_records_in_any_shape_are_the_same_predictions(
    found: list[dict[str, str]],
) -> None:
    records = [{"key": c.key, **row} for c, row in zip(FOUR.clips, found, strict=False)]
    expected = table_of(as_json(records))
    assert table_of(b"\n".join(map(as_json, records))) == expected
    assert table_of(as_csv(records)) == expected
    assert table_of(records) == expected
    assert table_of(pd.DataFrame(records)) == expected


def test_an_empty_cell_of_a_data_frame_is_absent() -> None:
    frame = pd.DataFrame(
        {
            "key": ["paris", "suva", "nairobi"],
            "latitude": [48.86, np.nan, np.nan],
            "longitude": [2.35, np.nan, np.nan],
            "model_output": [None, "lat -18.1, lon 178.4", np.nan],
        }
    )
    found = read_predictions(frame, FOUR)
    assert [str(status) for status in found.status] == ["answered", "answered", "error"]
    assert found.lat[1] == -18.1
    assert found.given["latitude"][2] is None


def test_data_frames_and_objects_are_refused_with_all_their_problems() -> None:
    frame = pd.DataFrame({"key": ["rome", "paris", "paris"], "latitude": 1.0, "longitude": 2.0})
    sources: list[Any] = [frame, frame.to_dict("records")]
    for source in sources:
        with pytest.raises(FileRefusedError) as caught:
            read_predictions(source, FOUR)
        found = [(problem.record, problem.clip) for problem in caught.value.problems]
        assert found == [(1, "rome"), (3, "paris")]
    twice = pd.concat([frame, frame["latitude"]], axis=1)
    with pytest.raises(FileRefusedError, match="Several columns are named latitude"):
        read_predictions(twice, FOUR)
    with pytest.raises(FileRefusedError, match="record 2: The record is text instead of an object"):
        read_predictions([{"key": "paris"}, "suva"], FOUR)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a sequence of mappings, not int"):
        read_predictions(5, FOUR)  # type: ignore[arg-type]


def test_what_was_read_from_objects_leaves_them_as_they_were() -> None:
    records = [{"key": "paris", "answer": {"latitude": 1, "longitude": 2}}]
    before = copy.deepcopy(records)
    assert list(read_predictions(records, FOUR).status) == ["answered"]
    assert records == before


@pytest.mark.parametrize("digits", [18, 19, 20, 30, 400, 5000])
def test_long_integers_are_not_coordinates(digits: int) -> None:
    flat = f'[{{"key":"paris","question":1,"latitude":{"9" * digits},"longitude":1}}]'
    assert list(read_predictions(flat.encode(), FOUR).status) == ["unparseable"]


def test_a_byte_that_is_not_utf8_refuses_the_file_wherever_it_is() -> None:
    record = '[{"key":"paris","question":"café","latitude":1,"longitude":2}]'
    with pytest.raises(FileRefusedError, match="not UTF-8"):
        read_predictions(record.encode("latin-1"), FOUR)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"key":"paris"}\n\n{"key":"rome"}\n', "record 2, line 3, clip rome"),
        ('{"key":"paris"}\n{"key":"rome"}', "record 2, line 2, clip rome"),
        ('\n{"key":"paris"}\r\n{"key":"rome"}\r\n', "record 2, line 3, clip rome"),
        ('{"key":"paris"}\n{"key":"suva"}{"key":"rome"}\n\n', "line 2: The line is not JSON"),
        ('{"key":"paris"}\n {"key":"rome"}\n', "record 2, line 2, clip rome"),
    ],
)
def test_lines_of_json_are_counted(text: str, where: str) -> None:
    with pytest.raises(FileRefusedError, match=where):
        read_predictions(text.encode(), FOUR)


def test_lines_are_counted_in_every_part_of_a_large_file() -> None:
    padding = "x" * 2000
    keys = [f"c{i}" for i in range(3000)]
    many = Benchmark("many", "Many", "1", tuple(Clip(key, 0.0, 0.0) for key in keys))
    lines = [f'{{"key":"{key}","question":"{padding}"}}' for key in [*keys, "rome"]]
    with pytest.raises(FileRefusedError, match="record 3001, line 3001, clip rome"):
        read_predictions("\n".join(lines).encode(), many)


@pytest.mark.parametrize(
    "second",
    [
        '{"key":"suva","latitude":1,"latitude":2,"longitude":3}',
        '{"key":"suva","question":"?","latitude":1,"latitude":2,"longitude":3}',
        '{"question":"?","question":"!","key":"suva","latitude":1,"longitude":3}',
        '{"key":"suva","question":{"latitude":5},"latitude":1,"longitude":3}',
        '{"key":"suva","question":"a\\":b","latitude":1,"longitude":3}',
        '{"key":"suva","question":null,"latitude":1,"longitude":3,"clip":"rome"}',
        '{"clip":"suva","question":"?","latitude":1,"longitude":3}',
        '{"key":"suva","latitude":1,"longitude":3}',
    ],
)
def test_questions_are_passed_over_and_nothing_else_is(second: str) -> None:
    """A list is read the same as the same records line by line, which decodes every field."""
    first = '{"key":"paris","question":"Where?","latitude":48.86,"longitude":2.35}'
    assert outcome_of(f"[{first},{second}]") == outcome_of(f"{first}\n{second}")


def outcome_of(text: str) -> object:
    try:
        return table_of(text.encode())
    except FileRefusedError as error:
        return [(problem.record, problem.field, problem.found) for problem in error.problems]
