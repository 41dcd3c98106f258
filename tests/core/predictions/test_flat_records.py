"""The quick reader of flat lists says what the slow one says, or leaves the file to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import FileRefusedError
from agl1k_core.predictions import prediction_json
from agl1k_core.predictions import reader as predictions
from agl1k_core.predictions.flat_records import FlatColumns, Needed, flat_columns

NAMES = ("key", "question", "latitude", "longitude", "city", "extra")
PREDICTED = ("predicted_latitude", "predicted_longitude", "predicted_city")
TWO = Benchmark("two", "Two", "1", (Clip("a", 1.0, 2.0), Clip("b", 3.0, 4.0)))


def two_of_them(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name in ("key", "latitude"))


def test_only_what_is_needed_is_decoded() -> None:
    records = [{"key": "a", "question": "where?" * 9, "latitude": 1.5, "city": "Bonn"}] * 3
    flat = flat_columns(json.dumps(records, separators=(",", ":")).encode(), two_of_them)
    assert flat == FlatColumns(("key", "latitude"), [["a"] * 3, [1.5] * 3])


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "[", "{}", "[1]", '["key"]', "null",
        '[{"question":"a"}]',  # holds nothing that is needed
        '[{"key":"a","latitude":1},{"key":"b"}]',  # a name is absent
        '[{"key":"a","latitude":1},{"key":"b","latitude":1,"more":2}]',
        '[{"key":"a","latitude":1,"latitude":2}]',
        '[{"key":"a","latitude":1},{"key":"b","latitude":1,"latitude":2}]',
        '[{"key":"a","latitude":1,"q":{"deep":1}}]',  # may hide a name that comes twice
        '[{"key":"a","latitude":NaN}]',
        '[{"key":"a","latitude":1}] and more',
        '[{"key":"a","latitude":1},7]',
        '[{"key" : "a","latitude" : 1}]',  # its names cannot be counted
        '[{"key":"a","latitude":1},{"k\\"ey":"a","key":"a","latitude":1}]',
        '[{"key":"a","latitude":1},{"latitude":1,"key":"b"}]',  # in another order
        '[{"key":"a","latitude":1,"café":2},{"key":"b","latitude":1,"caf\\u00e9":2}]',
        '[{"key\\\\":"a","key":"a","latitude":1}]',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_anything_else_is_left_to_the_slow_reader(text: str) -> None:
    assert flat_columns(text.encode(), two_of_them) is None


@pytest.mark.parametrize("other", ["q", "true_latitude", "a_very_long_name_for_a_latitude"])
def test_a_name_that_hides_behind_an_absent_one_is_found(other: str) -> None:
    first = f'{{"key":"a","latitude":1,"{other}":1}}'
    bad, good = '{"key":"b","latitude":1,"latitude":2}', first.replace('"a"', '"b"')
    assert flat_columns(f"[{first},{bad}]".encode(), two_of_them) is None
    assert flat_columns(f"[{first},{good}]".encode(), two_of_them) is not None


def test_names_that_end_alike_are_left_to_the_slow_reader() -> None:
    one, two = "one_of_those_very_long_names", "two_of_those_very_long_names"
    assert one[4:] == two[4:]
    record = f'{{"key":"a","latitude":1,"{one}":1,"{two}":1}}'
    assert flat_columns(f"[{record},{record}]".encode(), two_of_them) is None


def test_all_is_left_where_all_is_needed() -> None:
    assert flat_columns(b'[{"key":"a","latitude":1}]', lambda names: None) is None


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["48.5", "12° N", "Unknown", '":', "\\", 'a"b', "東京", "\ud800"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(NAMES), st.integers(), max_size=2),
)
pairs = st.lists(st.tuples(st.sampled_from(NAMES), values), min_size=3, max_size=6)
records = st.fixed_dictionaries(dict.fromkeys(NAMES[1:], values)).map(lambda r: [*r.items()])


def written(record: list[tuple[str, Any]], key: str, *, is_ascii: bool) -> str:
    pairs = [("key", key), *record]
    dumped = [(json.dumps(k), json.dumps(v, ensure_ascii=is_ascii)) for k, v in pairs]
    return "{" + ",".join(f"{name}:{value}" for name, value in dumped) + "}"


def outcome(data: bytes) -> dict[str, Any]:
    try:
        found = predictions.read(data, TWO)
    except FileRefusedError as error:
        return {"refused": list(map(str, error.problems))}
    columns = ("keys", "status", "lat", "lon", "city", "country", "continent", "reason")
    return {name: list(map(repr, getattr(found, name))) for name in columns} | {
        f"given {name}": list(map(repr, column)) for name, column in found.given.items()
    }


@given(st.lists(st.one_of(records, pairs), min_size=1, max_size=2), st.booleans(), st.booleans())
def test_both_readers_say_the_same(
    some: list[list[tuple[str, Any]]], is_ascii: bool, as_lines: bool
) -> None:
    texts = [written(r, key, is_ascii=is_ascii) for r, key in zip(some, "ab", strict=False)]
    text = "\n".join(texts) if as_lines else "[" + ",".join(texts) + "]"
    data = text.encode("utf-8", "replace")
    quick = outcome(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction_json, "flat_columns", nothing)
        assert quick == outcome(data)


@pytest.mark.parametrize("digits", [18, 19, 20, 30, 400, 5000])
def test_long_integers_are_no_place(digits: int) -> None:
    flat = f'[{{"key":"a","question":1,"latitude":{"9" * digits},"longitude":1}}]'
    assert list(predictions.read(flat.encode(), TWO).status) == ["unparseable"]


def test_a_byte_that_is_no_utf8_matters_where_it_is_read() -> None:
    flat = '[{"key":"a","question":"café","latitude":1,"longitude":2,"city":"Orléans"}]'
    both = flat.encode("latin-1")
    assert "UTF-8" in str(outcome(both))
    where_none_reads = both.replace(b"Orl\xe9ans", b"Bonn")
    assert list(predictions.read(where_none_reads, TWO).status) == ["answered"]


def nothing(data: bytes, needed: Needed) -> None:
    """Leaves every file to the slow reader."""


@given(st.permutations([*NAMES, *PREDICTED, "model_output", "error", "reasoning"]))
def test_what_is_needed_means_the_same_alone(names: list[str]) -> None:
    needed = predictions._needed(tuple(names))
    assert needed is not None
    kept = tuple(name for name in names if name in needed)
    assert predictions._schema(kept) == predictions._schema(tuple(names))
