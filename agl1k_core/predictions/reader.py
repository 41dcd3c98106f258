"""Predictions of a model: files, data frames or objects, read into one table.

A record holds the fields of an answer, or the raw answer under ``model_output``, ``answer`` or
``response``; the fields win if any of them is filled. A file is refused only for its own problems;
a bad answer of the model is a status.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

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
from agl1k_core.inputs import (
    MAX_BYTES,
    UnreadableFileError,
    check_size,
    name_of,
    read_file,
    unpacked,
)
from agl1k_core.predictions.formats import ID_KEYS, KEYED, Records, UnreadableError, read_records

if TYPE_CHECKING:
    import pandas as pd

#: How many records beyond one per clip are read, to make the list of problems helpful.
_MOST_SURPLUS = 5_000
_RAW_KEYS = ("model_output", "answer", "response", "raw_answer", "raw_output", "raw_response")
_ERROR_KEYS = ("error", "exception")

ObjectArray = npt.NDArray[np.object_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Predictions:
    """Predictions for one benchmark, one row per record.

    Attributes
    ----------
    keys : array of str, shape (n_records,)
        The clip of each record.
    status : array of Status, shape (n_records,)
    lat, lon : array of float, shape (n_records,)
        Degrees; NaN unless answered.
    city, country, continent, reason : array of str, shape (n_records,)
        Empty if there is none.
    given : mapping of str to array, each of shape (n_records,)
        The five fields ``latitude``, ``longitude``, ``city``, ``country`` and ``continent`` as the
        file has them, None if absent.
    sha256 : str
        SHA-256 of the file; empty if the predictions were not read from bytes.
    source : str
        The name of the file, for messages.
    clusters : array of str, shape (n_records,), optional
        The cluster of each row, such as a player; rows of one are not independent.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> demo = ag.load_benchmark("demo")
    >>> record = {"key": "demo_01", "latitude": -13, "longitude": -38}
    >>> predictions = ag.read_predictions([record], demo, name="mine")
    >>> predictions
    <Predictions mine: 1 record>
    >>> predictions.lat, predictions.city
    (array([-13.]), array([''], dtype=object))
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

    def __repr__(self) -> str:
        name = f" {self.source}" if self.source else ""
        return f"<Predictions{name}: {len(self):,} record{'s' * (len(self) != 1)}>"


def read_predictions(
    source: Path | str | bytes | pd.DataFrame | Sequence[Mapping[str, object]],
    benchmark: Benchmark,
    *,
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> Predictions:
    """Read a model's predictions for a benchmark.

    Parameters
    ----------
    source : path, bytes, DataFrame or sequence of mappings
        A prediction file or its content (JSON, JSON Lines or CSV, or one of them packed as gzip or
        ZIP), or one record per row. The path ``-`` is standard input.
        ``docs/prediction-format.md`` describes the fields of a record.
    benchmark : Benchmark
        The benchmark whose clips the records name.
    name : str, optional
        The source's name in messages; the file's name by default.
    max_bytes : int, optional
        Larger files are refused, and packed ones that contain more.

    Returns
    -------
    Predictions
        One row per record, in the order of the source.

    Raises
    ------
    FileRefusedError
        With all problems at once: an unknown format, a record without a clip, a clip that the
        benchmark does not have or that has two records, a file larger than ``max_bytes``.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> demo = ag.load_benchmark("demo")
    >>> records = [
    ...     {"key": demo.clips[0].key, "latitude": 48.9, "longitude": 2.4, "city": "Paris"},
    ...     {"key": demo.clips[1].key, "model_output": "I cannot tell where this is."},
    ... ]
    >>> read = ag.read_predictions(records, demo)
    >>> [str(status) for status in read.status]
    ['answered', 'refused']
    """
    problems = Problems(name or _name_of(source))
    reading = _Reading(benchmark, problems)
    try:
        content = _content_of(source, max_bytes)
        inside = unpacked(content, max_bytes) if isinstance(content, bytes) else content
        records = read_records(inside, problems, len(benchmark) + _MOST_SURPLUS)
        tables = [reading.table(part) for part in records]
    except (UnreadableError, UnreadableFileError) as error:
        raise problems.refusal(error.problem) from None
    sha256 = hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else ""
    return reading.predictions(tables, sha256)


def _name_of(source: object) -> str:
    if isinstance(source, (str, Path)):
        return name_of(Path(source))
    return "The file" if isinstance(source, bytes) else "The predictions"


def _content_of(
    source: Path | str | bytes | pd.DataFrame | Sequence[Mapping[str, object]], max_bytes: int
) -> bytes | list[object]:
    """The bytes of a file, or the rows of anything else as objects."""
    if isinstance(source, bytes):
        check_size(len(source), max_bytes)
        return source
    if isinstance(source, (str, Path)):
        return read_file(Path(source), max_bytes)
    if isinstance(source, Sequence):
        return [dict(row) if isinstance(row, Mapping) else row for row in source]
    if hasattr(source, "columns"):
        return _rows_of(source)
    kind = type(source).__name__
    raise TypeError(f"give a path, bytes, a DataFrame or a sequence of mappings, not {kind}")


def _rows_of(frame: pd.DataFrame) -> list[object]:
    """The rows of a data frame as objects; empty cells become None."""
    names = [str(column) for column in frame.columns]
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise UnreadableError(f"Several columns are named {', '.join(twice)}", "Rename them")
    filled = frame.astype(object).where(frame.notna(), None)
    return [dict(zip(names, row, strict=True)) for row in filled.itertuples(index=False, name=None)]


@dataclass
class _Table:
    """Columns of some records. ``numbers`` and ``lines`` locate each row in the file."""

    numbers: Sequence[int] | IntArray
    lines: Sequence[int] | IntArray | None
    lat: FloatArray
    lon: FloatArray
    columns: dict[str, ObjectArray]


@dataclass(frozen=True)
class _Schema:
    """The meaning of the names of a record."""

    ids: tuple[str, ...]
    fields: Mapping[str, str]
    raw: tuple[str, ...]
    errors: tuple[str, ...]
    nested: bool


def _schema(names: tuple[str, ...]) -> _Schema:
    """``predicted_*`` wins over plain names, which may contain the truth."""
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


class _CleanLabels(dict[object, str]):
    """Cleaned labels by the labels as found; a file has many records but few different labels."""

    def __missing__(self, label: object) -> str:
        self[label] = cleaned = clean_label(label) or ""
        return cleaned


class _Reading:
    """Reads the records of one source into tables."""

    def __init__(self, benchmark: Benchmark, problems: Problems) -> None:
        self._benchmark, self._problems = benchmark, problems
        self._schemas: dict[tuple[str, ...], _Schema] = {}
        self._cleaned = _CleanLabels()

    def table(self, records: Records) -> _Table:
        """Records as columns, each with the status of its answer."""
        schema = self._schema_of(tuple(records.columns))
        size, found = len(records), records.columns
        nothing: list[object] = [None] * size
        given = {name: found.get(schema.fields.get(name, ""), nothing) for name in GIVEN}
        lat, lon = _numbers(given["latitude"]), _numbers(given["longitude"])
        on_earth = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
        refused = (lat == 0) & (lon == 0)
        columns = {f"given {name}": _objects(values) for name, values in given.items()}
        columns |= {name: _objects(self._labels(given[name])) for name in LABELS}
        columns["reason"] = _objects(_reasons(found.get(schema.fields.get("reason", ""), nothing)))
        columns["status"] = np.full(size, Status.ANSWERED, dtype=object)
        columns["status"][refused] = Status.REFUSED
        columns["key"] = _objects(self._keys(records, [found[name] for name in schema.ids]))
        lat[refused | ~on_earth] = lon[refused | ~on_earth] = np.nan
        table = _Table(records.numbers, records.lines, lat, lon, columns)
        for position in np.flatnonzero(~on_earth).tolist():
            _set_answer(table, position, _judge_record(records.record(position), schema))
        return table

    def predictions(self, tables: list[_Table], sha256: str) -> Predictions:
        """All tables as one; raises ``FileRefusedError`` if there are problems."""
        table = _joined(tables)
        if table is None:
            self._problems.raise_if_any()
            todo = "Send one record per clip"
            raise self._problems.refusal(Problem("The file contains no predictions", todo))
        self._check_clips(table)
        self._problems.raise_if_any()
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
            sha256=sha256,
            source=self._problems.source,
        )

    def _schema_of(self, names: tuple[str, ...]) -> _Schema:
        if names not in self._schemas:
            self._schemas[names] = _schema(names)
        return self._schemas[names]

    def _labels(self, values: Sequence[object]) -> list[str]:
        try:
            return list(map(self._cleaned.__getitem__, values))
        except TypeError:  # lists and objects cannot be hashed
            return [clean_label(value) or "" for value in values]

    def _keys(self, records: Records, columns: Sequence[Sequence[object]]) -> list[str]:
        """The clip of each record, empty (and a problem) if it names none.

        If a record has several ids, the first that is a clip counts: others may be row numbers.
        """
        # reading takes 1.3 times as long without this, see perf/reading.py
        if len(columns) == 1 and set(map(type, columns[0])) == {str} and "" not in columns[0]:
            return list(map(str.strip, columns[0]))  # type: ignore[arg-type]
        keys = []
        for position in range(len(records)):
            named = [name for column in columns if (name := _clip_name(column[position]))]
            key = next((name for name in named if name in self._benchmark), "") or "".join(
                named[:1]
            )
            keys.append(key)
            if not key:
                found = f"The record has none of the fields {', '.join(ID_KEYS)}"
                self._problems.add(records.problem(position, found, "Name the clip"))
        return keys

    def _check_clips(self, table: _Table) -> None:
        """Report unknown clips and clips named twice."""
        keys: list[str] = table.columns["key"].tolist()
        index = self._benchmark.index
        positions = np.fromiter(map(index.get, keys, repeat(-1)), dtype=np.int64, count=len(keys))
        if positions.min() >= 0 and np.bincount(positions).max() == 1:
            return
        first: dict[str, int] = {}
        for position, key in enumerate(keys):
            if key and key not in index:
                found = f"The benchmark {self._benchmark.slug} has no such clip"
                todo = "Check the key, or choose its benchmark"
                self._problems.add(_at(table, position, found, todo))
            if first.setdefault(key, position) != position and key:
                found = f"The clip is already in record {table.numbers[first[key]]}"
                self._problems.add(_at(table, position, found, "Keep one answer"))


def _objects(values: Sequence[object]) -> ObjectArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _numbers(values: Sequence[object]) -> FloatArray:
    """Plain numbers, also as text; NaN for everything that needs a closer look."""
    # a file has the same few texts again and again; reading it takes 1.1 times as long without
    # this, see perf/reading.py
    if set(map(type, values)) == {str}:
        known = {value: _plain_number(value) for value in set(values)}
        return np.array(list(map(known.__getitem__, values)), dtype=np.float64)
    return np.array([_plain_number(value) for value in values], dtype=np.float64)


def _plain_number(value: object) -> float:
    try:
        return float(value) if type(value) is not bool else float("nan")  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _reasons(values: Sequence[object]) -> list[str]:
    return [value if isinstance(value, str) else "" for value in values]


def _clip_name(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _judge_record(record: dict[str, object], schema: _Schema) -> Answer:
    """The slow path, for records with more than two plain coordinates."""
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
            name: np.concatenate([table.columns.pop(name) for table in tables])[order]
            for name in [*tables[0].columns]
        },
    )


def _at(table: _Table, position: int, found: str, todo: str) -> Problem:
    line = int(table.lines[position]) if table.lines is not None else None
    clip = str(table.columns["key"][position])[:80]
    return Problem(found, todo, record=int(table.numbers[position]), line=line, clip=clip)
