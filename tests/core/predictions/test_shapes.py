"""Files of other programs, keys as people write them, and what is said of the rest."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from agl1k_core.benchmarks import Benchmark, Clip, read_demo, read_folder
from agl1k_core.errors import FileRefusedError
from agl1k_core.predictions import read_predictions

THREE = Benchmark(
    "three", "Three", "1",
    (Clip("paris_1", 48.86, 2.35, file_name="p.mp3", short_key="1"),
     Clip("suva_2", -18.14, 178.44, file_name="s.mp3", short_key="2"),
     Clip("007", 1.0, 2.0, file_name="p.mp3")),
)  # fmt: skip
ANSWER = 'I hear {"latitude": 1.5, "longitude": -2.5}'
POINT = {"latitude": 1.5, "longitude": -2.5}
KEYS = ["paris_1", "suva_2"]
RECORDS: list[dict[str, Any]] = [{"key": key, **POINT} for key in KEYS]
FRAME = pd.DataFrame(RECORDS)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def lines(*values: object) -> bytes:
    return b"\n".join(map(as_json, values))


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def openai(key: str, content: object) -> dict[str, object]:
    body = {"object": "chat.completion", "choices": [{"message": {"content": content}}]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": key, "response": response, "error": None}


def responses(key: str) -> dict[str, object]:
    output = [
        {"type": "reasoning", "summary": [{"text": "latitude 9.5, longitude 9.5"}]},
        {"type": "message", "content": [{"type": "output_text", "text": ANSWER}]},
    ]
    return {"custom_id": key, "response": {"status_code": 200, "body": {"output": output}}}


def anthropic(key: str) -> dict[str, object]:
    parts = [{"type": "thinking", "thinking": "9.5, 9.5"}, {"type": "text", "text": ANSWER}]
    return {"custom_id": key, "result": {"type": "succeeded", "message": {"content": parts}}}


def lmms(number: int, key: str) -> dict[str, object]:
    return {"doc_id": number, "doc": {"key": key, "answer": "Rome"}, "target": "Rome",
            "arguments": [], "resps": [[ANSWER]], "filtered_resps": [ANSWER]}  # fmt: skip


def inspect(key: str) -> dict[str, object]:
    output = {"choices": [], "completion": ANSWER}
    return {"id": key, "epoch": 1, "input": "?", "target": "Rome", "output": output}


def eval_log(samples: dict[str, dict[str, object]], *, zstandard: bool = False) -> bytes:
    """An archive as Inspect writes it, packed with deflate or as two frames of Zstandard."""
    file = io.BytesIO()
    contents = {"header.json": b"{}", **{name: as_json(tree) for name, tree in samples.items()}}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED if zstandard else zipfile.ZIP_DEFLATED) as z:
        for name, content in contents.items():
            half = len(content) // 2
            parts = [content[:half], content[half:]]
            packed = b"".join(pa.compress(part, "zstd", asbytes=True) for part in parts)
            z.writestr(name, packed if zstandard else content)
    data = file.getvalue()
    return with_method_93(data) if zstandard else data


def with_method_93(data: bytes) -> bytes:
    """An archive of stored entries that says they are packed with Zstandard."""
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(signature)
        while start >= 0:
            data = data[: start + at] + b"\x5d\x00" + data[start + at + 2 :]
            start = data.find(signature, start + 4)
    return data


def feature(key: str, **more: object) -> dict[str, object]:
    geometry = {"type": "Point", "coordinates": [-2.5, 1.5]}
    return {"type": "Feature", "properties": {"key": key}, "geometry": geometry, **more}


TABLE = "key;latitude;longitude\nparis_1;1,5;−2,5\nsuva_2;1,5;-2,5\n"
SHAPES = {
    "OpenAI batch": lines(*(openai(key, ANSWER) for key in KEYS)),
    "OpenAI parts": lines(*(openai(k, [{"type": "text", "text": ANSWER}]) for k in KEYS)),
    "OpenAI responses": lines(*map(responses, KEYS)),
    "Anthropic batch": lines(*map(anthropic, KEYS)),
    "lmms-eval lines": lines(*(lmms(n, key) for n, key in enumerate(KEYS))),
    "lmms-eval log": as_json({"args": {}, "logs": [lmms(n, key) for n, key in enumerate(KEYS)]}),
    "VLMEvalKit": "".join(
        ["index\tquestion\tanswer\tprediction\n"]
        + [f"{key}\t?\t9.5, 9.5\tLatitude: 1.5, Longitude: -2.5\n" for key in KEYS]
    ).encode(),
    "Inspect": as_json({"version": 2, "eval": {}, "samples": list(map(inspect, KEYS))}),
    "Inspect with results": as_json({"results": {"scores": [{"name": "geoscore"}], "n": 2},
        "samples": list(map(inspect, KEYS))}),
    "Inspect archive": eval_log({f"samples/{key}_epoch_1.json": inspect(key) for key in KEYS}),
    "Inspect archive with Zstandard": eval_log(
        {f"samples/{key}_epoch_1.json": inspect(key) for key in KEYS}, zstandard=True),
    "GeoJSON": as_json({"type": "FeatureCollection", "features": list(map(feature, KEYS))}),
    "GeoJSON ids": as_json({"type": "FeatureCollection", "features": [
        feature("", id=key, properties=None) for key in KEYS]}),
    "wrapped": as_json({"id": "run 7", "model": "m", "predictions": RECORDS}),
    "wrapped keyed": as_json({"model": "m", "predictions": dict.fromkeys(KEYS, POINT)}),
    "wrapped twice": as_json({"results": {"predictions": RECORDS}}),
    "columns of lists": as_json(FRAME.to_dict("list")),
    "columns": FRAME.to_json().encode(),
    "columns of clips": FRAME.set_index("key").to_json().encode(),
    "split": FRAME.to_json(orient="split").encode(),
    "split keyed": FRAME.set_index("key").to_json(orient="split").encode(),
    "table": FRAME.to_json(orient="table").encode(),
    "index": FRAME.to_json(orient="index").encode(),
    "rows": as_json([["key", "latitude", "longitude"], *([key, 1.5, -2.5] for key in KEYS)]),
    "pairs": as_json([[key, POINT] for key in KEYS]),
    "an object per clip": as_json([{key: POINT} for key in KEYS]),
    "CSV with index": FRAME.to_csv().encode(),
    "semicolons": TABLE.encode(),
    "semicolons, sep": b"sep=;\r\n" + TABLE.encode(),
    "ghosts": TABLE.replace("\n", ";;\n").encode() + b";;;;\n;;;;\n",
    "tabs": TABLE.replace(";", "\t").encode("utf-16"),
    "capitals": TABLE.replace("key;latitude", "Key;LATITUDE").encode(),
    "Parquet": parquet(FRAME),
    "Parquet keyed": parquet(FRAME.set_index("key")),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_of_another_program_is_recognised(shape: str) -> None:
    found = read_predictions(SHAPES[shape], THREE)
    assert found.keys.tolist() == KEYS
    assert found.lat.tolist() == [1.5, 1.5]
    assert found.lon.tolist() == [-2.5, -2.5]
    assert found.warnings == ()


LOG = eval_log({"samples/a_epoch_1.json": inspect("paris_1")}, zstandard=True)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (eval_log({}), "The log of Inspect has no samples"),
        (eval_log({"samples/a_epoch_1.json": []}), "The log of Inspect is damaged"),  # type: ignore[dict-item]
        (LOG.replace(b"\x28\xb5\x2f\xfd", b"\x00" * 4), "The log of Inspect is damaged"),
        (eval_log({"samples/a_epoch_1.json": inspect("rome_9")}), "name no clip of the benchmark"),
        (eval_log({f"samples/p_epoch_{n}.json": inspect("paris_1") for n in (1, 2)}), "paris_1"),
    ],
)
def test_a_log_of_inspect_that_cannot_be_read_is_named(log: bytes, message: str) -> None:
    with pytest.raises(FileRefusedError, match=message):
        read_predictions(log, THREE)


@pytest.mark.parametrize("zstandard", [False, True])
def test_a_sample_that_fills_the_memory_is_refused(zstandard: bool) -> None:
    bomb = {**inspect("paris_1"), "messages": "a" * 2**21}
    log = eval_log({"samples/a_epoch_1.json": bomb}, zstandard=zstandard)
    assert len(log) < 2**16
    with pytest.raises(FileRefusedError, match="The log of Inspect is too large"):
        read_predictions(log, THREE, max_bytes=2**20)
    assert len(read_predictions(log, THREE, max_bytes=2**22)) == 1


def test_failed_calls_in_logs_are_errors() -> None:
    failed = {
        "custom_id": "suva_2",
        "error": None,
        "response": {
            "status_code": 429,
            "body": {"error": {"message": "latitude 1.5, longitude 2.5"}},
        },
    }
    expired = {"custom_id": "suva_2", "result": {"type": "expired"}}
    for first, second in ((openai("paris_1", ANSWER), failed), (anthropic("paris_1"), expired)):
        found = read_predictions(lines(first, second), THREE)
        assert [str(status) for status in found.status] == ["answered", "error"]


NAMED: dict[str, tuple[object, str]] = {
    "by columns": ({"latitude": [1], "longitude": [2]}, "a table by columns: latitude, longitude"),
    "uneven": ({"key": ["paris_1"], "latitude": [1, 2]}, "columns of different lengths"),
    "rows": ([["paris_1", 1, 2]], "a table without a header: 1 lists, the first of 3 values"),
    "ragged": ([["key", "latitude"], ["paris_1"]], "Row 1 of the table has 1 values"),
    "lmms-eval": ([{"doc_id": 0, "resps": ["x"]}], "a log of lmms-eval, whose records name no"),
    "summary": ({"results": {"a": {"acc": 1}}, "versions": {}}, "a summary of an evaluation har"),
    "chat": ({"id": "x", "model": "m", "choices": []}, "one response of a chat API"),
    "settings": ({"model": "m", "top_p": 0.5}, "one object with the names 'model', 'top_p'"),
    "empty": ({}, "it is an empty object"),
    "misspelt": ([{"key": "paris-1"}], r"record 1, clip paris-1: .*Did you mean paris_1\?"),
    "number": ([{"key": 7}], r"The key is a number, 7, .*Did you mean '007'\?.* as text"),
    "no number": ([{"key": 12.5}], "record 1: The record has none of the fields key"),
    "file": ([{"key": "s.mp3"}], "it is the file name of suva_2"),
    "files": ([{"key": "p.mp3"}], "it is the file name of paris_1 and 007"),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_read_is_named(name: str) -> None:
    content, message = NAMED[name]
    with pytest.raises(FileRefusedError, match=f"(?s){message}"):
        read_predictions(as_json(content), THREE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k\u0435y,latitude\nparis_1,1\n", "no column 'key', but .*cyrillic small letter ie"),
        ("paris_1,1,2\nsuva_2,1,2\n", "no header: its first line is already a clip's"),
    ],
)
def test_tables_without_keys(text: str, message: str) -> None:
    with pytest.raises(FileRefusedError, match=message):
        read_predictions(text.encode(), THREE)


def test_keys_are_recognised_as_people_write_them() -> None:
    for keys in (["PARIS_1.MP3", "Suva_2"], ["1", "2"], [1, 2.0], [" paris_1 ", "suva_2.wav"]):
        found = read_predictions(as_json([{"key": key, **POINT} for key in keys]), THREE)
        assert found.keys.tolist() == KEYS
    with pytest.raises(FileRefusedError, match=r"record 2, .*already in record 1"):
        read_predictions(as_json([{"key": "paris_1"}, {"key": "PARIS_1"}]), THREE)


def test_problems_come_in_the_order_of_the_records() -> None:
    records = [{"key": "rome"}, {"latitude": 1}, {"key": "oslo"}, 5, {"key": "rome"}]
    with pytest.raises(FileRefusedError) as caught:
        read_predictions(as_json(records), THREE)
    assert [problem.record for problem in caught.value.problems] == [1, 2, 3, 4, 5, 5]


TABLES = Path(__file__).parents[2] / "cases" / "tables"


@pytest.mark.parametrize(
    ("name", "n_answered"),
    [("geojson", 24), ("pandas_columns", 24), ("pandas_split", 24), ("wrapped_dict", 24),
     ("lon0_360", 14)],
)  # fmt: skip
def test_files_as_people_have_them(name: str, n_answered: int) -> None:
    found = read_predictions(TABLES / f"{name}.json", read_demo())
    assert len(found) == 24
    assert np.isfinite(found.lat).sum() == n_answered


@pytest.mark.parametrize(
    ("table", "file"),
    [("num_clips.csv", "num_float.json"), ("nfd_key_clips.csv", "nfd_key_pred.json")],
)
def test_keys_as_tables_and_files_have_them(tmp_path: Path, table: str, file: str) -> None:
    (tmp_path / "clips.csv").write_bytes((TABLES / table).read_bytes())
    benchmark = read_folder(tmp_path)
    found = read_predictions(TABLES / file, benchmark)
    assert found.keys.tolist() == [clip.key for clip in benchmark.clips[:2]]


# --- warnings ------------------------------------------------------------------------------------

DEMO = read_demo()
Change = Callable[[float, float], dict[str, object]]


def warnings_of(change: Change, benchmark: Benchmark = DEMO) -> str:
    records = [{"key": clip.key, **change(clip.lat, clip.lon)} for clip in benchmark.clips]
    return "\n".join(map(str, read_predictions(as_json(records), benchmark).warnings))


def near(lat: float, lon: float) -> dict[str, object]:
    return {"latitude": lat + 3, "longitude": lon - 3}


DOUBTS: dict[str, tuple[Change, str]] = {
    "prediction": (lambda *_: {"prediction": ANSWER}, "No record has a field.*'prediction'"),
    "output": (lambda *_: {"output": ANSWER, "n": 1}, "not read: 'output', 'n'"),
    "generated": (lambda *_: {"generated_text": ANSWER}, "'generated_text'"),
    "x, y": (lambda lat, lon: {"x": lon, "y": lat}, "not read: 'x', 'y'.*latitude and longitude"),
    "nothing": (lambda *_: {}, "have no other fields than the clip"),
    "look-alike": (
        lambda lat, lon: {"l\u0430titude": lat, "longitude": lon}, "cyrillic.*it to latitude",
    ),
    "errors": (lambda *_: {"error": "timeout"}, "24 of 24 records have no point"),
    "refusals": (lambda *_: {"model_output": "I cannot tell."}, "24 of 24 records have no point"),
    "swapped": (lambda lat, lon: {"latitude": lon, "longitude": lat}, "longitude swapped"),
    "radians": (
        lambda lat, lon: {"latitude": np.radians(lat), "longitude": np.radians(lon)}, "as radians",
    ),
    "0 to 360": (lambda lat, lon: {"latitude": lat, "longitude": lon % 360}, "between 0 and 360"),
    "text": (lambda lat, lon: {"latitude": str(lon), "longitude": str(lat)}, "swapped"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTS)
def test_what_may_not_have_been_meant_is_a_warning(name: str) -> None:
    change, message = DOUBTS[name]
    found = warnings_of(change)
    assert re.search(f"(?s){message}", found), found


def test_plain_files_have_no_warnings() -> None:
    assert warnings_of(near) == ""
    assert warnings_of(lambda lat, lon: {**near(lat, lon), "note": "x", "confidence": 1}) == ""
    assert warnings_of(lambda *_: {"latitude": 0.7, "longitude": 1.2}) == ""
    random = np.random.default_rng(1)
    for _ in range(30):
        guess = warnings_of(
            lambda *_: {
                "latitude": random.uniform(-90, 90), "longitude": random.uniform(-180, 180),
            }
        )  # fmt: skip
        assert guess == ""


@pytest.mark.parametrize(("n_points", "warns"), [(0, True), (1, True), (2, False)])
def test_nine_of_ten_without_a_point_are_a_warning(n_points: int, warns: bool) -> None:
    records = [{"key": clip.key, "model_output": "Unknown"} for clip in DEMO.clips[:10]]
    for record in records[:n_points]:
        record["model_output"] = ANSWER
    found = read_predictions(as_json(records), DEMO).warnings
    assert [f"{10 - n_points} of 10 records have no point" in str(w) for w in found] == [
        True
    ] * warns
