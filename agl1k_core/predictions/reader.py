"""Prediction files -> one table with a status per record.

A record is the fields of an answer, or the raw answer under ``model_output``, ``answer`` or
``response``; the fields win where any of them holds something. Only what concerns the file makes
it refused; a model's own bad answer is a status.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agl1k_core.answers import (
    GIVEN,
    LABELS,
    Answer,
    Status,
    clean_label,
    field_of_key,
    find_fields,
    is_blank,
    judge,
    parse_answer,
)
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Problem, Problems
from agl1k_core.predictions.prediction_batches import ID_KEYS, Batch
from agl1k_core.predictions.prediction_files import read_batches
from agl1k_core.predictions.prediction_json import KEYED

__all__ = ["Answer", "Predictions", "Status", "parse_answer", "read"]

MAX_BYTES = 16 * 2**20
#: On a researcher's own machine there is no upload limit, only a sane one.
OWN_MAX_BYTES = 4 * 2**30
#: Records beyond one per clip that are looked at, so that the list of problems helps.
_MOST_SURPLUS = 5_000
_RAW_KEYS = ("model_output", "answer", "response", "raw_answer", "raw_output", "raw_response")
_ERROR_KEYS = ("error", "exception")

ObjectArray = npt.NDArray[np.object_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Predictions:
    """Predictions for one benchmark, one row per record; every array has shape ``(n_records,)``.

    ``lat`` and ``lon`` are degrees and NaN unless answered. ``city``, ``country``, ``continent``
    and ``reason`` are text, empty where there is none. ``given`` holds the five fields as the file
    has them, None where absent. ``clusters`` names the resampling unit of each row (a player).
    """

    keys: ObjectArray
    status: ObjectArray
    lat: FloatArray
    lon: FloatArray
    city: ObjectArray
    country: ObjectArray
    continent: ObjectArray
    reason: ObjectArray
    given: Mapping[str, ObjectArray] = field(default_factory=dict)
    sha256: str = ""
    source: str = ""
    clusters: ObjectArray | None = None

    def __len__(self) -> int:
        return len(self.keys)


def read(
    source: Path | bytes, benchmark: Benchmark, *, name: str = "", max_bytes: int = MAX_BYTES
) -> Predictions:
    """Read a prediction file for a benchmark.

    Raises ``FileRefusedError`` with all problems at once: no known format, a record without a
    clip, clips that the benchmark does not have, a clip named twice, more than ``max_bytes``.
    """
    name = name or (source.name if isinstance(source, Path) else "The file")
    problems = Problems(name)
    data = _load(source, max_bytes, problems)
    try:
        with ThreadPoolExecutor(1) as beside:  # hashing and parsing go on at once
            digest = beside.submit(hashlib.sha256, data)
            found = _read(data, benchmark, problems)
            return replace(found, sha256=digest.result().hexdigest(), source=name)
    finally:  # what is remembered of a file may be as large as the file
        _label.cache_clear()
        _schema.cache_clear()


def _read(data: bytes, benchmark: Benchmark, problems: Problems) -> Predictions:
    batches = read_batches(data, problems, len(benchmark) + _MOST_SURPLUS, _needed)
    tables = [_table(batch, benchmark, problems) for batch in batches]
    table = _joined(tables)
    if table is None:
        problems.raise_if_any()
        raise problems.refusal(Problem("The file holds no predictions", "Send one record per clip"))
    _check_clips(table, benchmark, problems)
    problems.raise_if_any()
    columns = table.columns
    return Predictions(
        keys=columns["key"],
        status=columns["status"],
        lat=table.lat,
        lon=table.lon,
        city=columns["city"],
        country=columns["country"],
        continent=columns["continent"],
        reason=columns["reason"],
        given={field_name: columns[f"given {field_name}"] for field_name in GIVEN},
    )


def _load(source: Path | bytes, max_bytes: int, problems: Problems) -> bytes:
    try:
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        if size <= max_bytes:
            return source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise problems.refusal(
            Problem(f"The file cannot be opened: {reason}", "Check the path")
        ) from None
    found = f"The file has {size / 2**20:.1f} MB, the limit is {max_bytes / 2**20:g} MB"
    raise problems.refusal(
        Problem(found, "Leave out what is not needed, such as the question of each clip")
    )


@dataclass
class _Table:
    """Columns of one or more batches. ``numbers`` and ``lines`` tell where a row was."""

    numbers: Sequence[int] | IntArray
    lines: Sequence[int] | IntArray | None
    lat: FloatArray
    lon: FloatArray
    columns: dict[str, ObjectArray]


@dataclass(frozen=True)
class _Schema:
    """Which of a record's names hold what."""

    ids: tuple[str, ...]
    fields: Mapping[str, str]
    raw: tuple[str, ...]
    errors: tuple[str, ...]
    nested: bool


@lru_cache(maxsize=1024)
def _schema(names: tuple[str, ...]) -> _Schema:
    """``predicted_*`` wins over plain names, which may be the truth beside it."""
    folded = {name.casefold().replace(" ", "_"): name for name in reversed(names)}
    ids = tuple(folded[key] for key in (KEYED, *ID_KEYS) if key in folded)
    meant = {name: field_of_key(name) for name in names if name not in ids}
    predicted = {n: f for n, f in meant.items() if f and n.casefold().startswith("predict")}
    if any(found in GIVEN for found in predicted.values()):
        reasons = {n: f for n, f in meant.items() if f == "reason"}
        meant = {**predicted, **reasons}
    fields = {found: name for name, found in reversed(meant.items()) if found}
    nested = not {"latitude", "longitude"} <= fields.keys()
    return _Schema(
        ids,
        {name: key for name, key in fields.items() if name in (*GIVEN, "reason")},
        tuple(folded[key] for key in _RAW_KEYS if key in folded),
        tuple(folded[key] for key in _ERROR_KEYS if key in folded),
        nested,
    )


def _needed(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Which of a record's names are looked at, None for all of them."""
    schema = _schema(names)
    if schema.nested:
        return None
    return *schema.ids, *schema.fields.values(), *schema.raw, *schema.errors


def _table(batch: Batch, benchmark: Benchmark, problems: Problems) -> _Table:
    schema = _schema(batch.names)
    size = len(batch)
    found = batch.columns((*schema.ids, *schema.fields.values()))
    nothing: list[object] = [None] * size
    given = {name: found.get(schema.fields.get(name, ""), nothing) for name in GIVEN}
    lat, lon = _numbers(given["latitude"]), _numbers(given["longitude"])
    on_earth = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
    refused = (lat == 0) & (lon == 0)
    columns = {f"given {name}": _objects(values) for name, values in given.items()}
    columns |= {name: _objects(_labels(given[name])) for name in LABELS}
    columns["reason"] = _objects(_reasons(found.get(schema.fields.get("reason", ""), nothing)))
    columns["status"] = np.full(size, Status.ANSWERED, dtype=object)
    columns["status"][refused] = Status.REFUSED
    ids = [found[name] for name in schema.ids]
    columns["key"] = _objects(_keys(batch, ids, benchmark, problems))
    lat[refused | ~on_earth] = lon[refused | ~on_earth] = np.nan
    table = _Table(batch.numbers, batch.lines, lat, lon, columns)
    for position in np.flatnonzero(~on_earth).tolist():
        _set_answer(table, position, _judge_record(batch.row(position), schema))
    return table


def _objects(values: Sequence[object]) -> ObjectArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _numbers(values: Sequence[object]) -> FloatArray:
    """Plain numbers and texts of plain numbers; NaN for all that needs a closer look."""
    if set(map(type, values)) <= {float, int, str}:
        try:
            return np.array(list(map(float, values)), dtype=np.float64)  # type: ignore[arg-type]
        except (ValueError, OverflowError):
            pass
    if len(values) > 1 and set(map(type, values)) == {str}:  # the same few places, again and again
        known = {value: _plain_number(value) for value in set(values)}
        return np.array(list(map(known.__getitem__, values)), dtype=np.float64)
    return np.array([_plain_number(value) for value in values], dtype=np.float64)


def _plain_number(value: object) -> float:
    try:
        return float(value) if type(value) is not bool else float("nan")  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


@lru_cache(maxsize=2**16)
def _label(value: object) -> str:
    """A cleaned label; a file has many records and few different labels."""
    return clean_label(value) or ""


def _labels(values: Sequence[object]) -> list[str]:
    try:
        return list(map(_label, values))
    except TypeError:  # a list or an object has no hash
        return [clean_label(value) or "" for value in values]


def _reasons(values: Sequence[object]) -> list[str]:
    return [value if isinstance(value, str) else "" for value in values]


def _keys(
    batch: Batch, columns: Sequence[Sequence[object]], benchmark: Benchmark, problems: Problems
) -> list[str]:
    """The clip of each record, empty (and a problem) where it names none.

    Of several ids in a record the first that is a clip counts: others may number the rows.
    """
    if len(columns) == 1 and set(map(type, columns[0])) == {str} and "" not in columns[0]:
        return list(map(str.strip, columns[0]))  # type: ignore[arg-type]
    keys = []
    for position in range(len(batch)):
        named = [name for column in columns if (name := _clip_name(column[position]))]
        key = next((name for name in named if name in benchmark), named[0] if named else "")
        keys.append(key)
        if not key:
            found = f"The record has none of the fields {', '.join(ID_KEYS)}"
            number, line = batch.numbers[position], batch.line(position)
            problems.add(Problem(found, "Name the clip", record=number, line=line))
    return keys


def _clip_name(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _judge_record(record: dict[str, object], schema: _Schema) -> Answer:
    """The slow way, for records that are more than two plain coordinates."""
    fields: dict[str, object] = {name: record[key] for name, key in schema.fields.items()}
    if schema.nested:
        skipped = {*schema.ids, *schema.raw, *schema.errors}
        rest = {key: value for key, value in record.items() if key not in skipped}
        fields = {**find_fields(rest), **fields}
    if all(is_blank(fields.get(name)) for name in GIVEN):
        for key in schema.raw:
            if not is_blank(record[key]):
                return parse_answer(record[key])
        if any(record[key] for key in schema.errors):
            return Answer(Status.ERROR)
    return judge(fields, spoken=False)


def _set_answer(table: _Table, position: int, answer: Answer) -> None:
    columns = table.columns
    columns["status"][position] = answer.status
    if answer.latitude is not None and answer.longitude is not None:
        table.lat[position], table.lon[position] = answer.latitude, answer.longitude
    for name in LABELS:
        columns[name][position] = getattr(answer, name) or ""
    columns["reason"][position] = answer.reason or columns["reason"][position]
    for name in GIVEN:
        columns[f"given {name}"][position] = answer.given.get(name)


def _joined(tables: list[_Table]) -> _Table | None:
    """One table in the order of the file."""
    if len(tables) <= 1:
        return tables[0] if tables else None
    numbers = np.concatenate([table.numbers for table in tables])
    ascending = bool((np.diff(numbers) > 0).all())
    order = slice(None) if ascending else np.argsort(numbers, kind="stable")
    lines = None
    if all(table.lines is not None for table in tables):
        lines = np.concatenate([table.lines or () for table in tables])[order]
    return _Table(
        numbers[order],
        lines,
        np.concatenate([table.lat for table in tables])[order],
        np.concatenate([table.lon for table in tables])[order],
        {
            name: np.concatenate([table.columns[name] for table in tables])[order]
            for name in tables[0].columns
        },
    )


def _check_clips(table: _Table, benchmark: Benchmark, problems: Problems) -> None:
    """Unknown clips and clips named twice."""
    keys: list[str] = table.columns["key"].tolist()
    index = benchmark.index
    distinct = set(keys)
    if len(distinct) == len(keys) and distinct <= index.keys():
        return
    first: dict[str, int] = {}
    for position, key in enumerate(keys):
        if key and key not in index:
            found = f"The benchmark {benchmark.slug} has no such clip"
            problems.add(_at(table, position, found, "Check the key, or choose its benchmark"))
        if first.setdefault(key, position) != position and key:
            found = f"The clip was named before, by record {table.numbers[first[key]]}"
            problems.add(_at(table, position, found, "Keep one answer"))


def _at(table: _Table, position: int, found: str, todo: str) -> Problem:
    line = int(table.lines[position]) if table.lines is not None else None
    clip = str(table.columns["key"][position])[:80]
    return Problem(found, todo, record=int(table.numbers[position]), line=line, clip=clip)
