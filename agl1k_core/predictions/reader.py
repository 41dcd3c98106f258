"""Predictions of a model: files, data frames or objects, read into one table.

A record holds the fields of an answer, or the raw answer under ``model_output``, ``answer`` or
``response``; the fields win if any of them is filled. A file is refused only for its own problems;
a bad answer of the model is a status.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
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
from agl1k_core.predictions import doubts
from agl1k_core.predictions.eval_logs import eval_samples
from agl1k_core.predictions.formats import read_records
from agl1k_core.predictions.harnesses import as_records
from agl1k_core.predictions.keys import Keys
from agl1k_core.predictions.records import ID_KEYS, KEYED, Records, UnreadableError

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
    raw : array of object, shape (n_records,), optional
        The raw answers as the file has them, None for records without one.
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
    raw: ObjectArray | None = None
    clusters: ObjectArray | None = None
    warnings: tuple[Problem, ...] = ()

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
        hashed = _Hash(content)
        inside = _inside(content, max_bytes)
        most = len(benchmark) + _MOST_SURPLUS
        records = read_records(inside, problems, most, reading.keys.is_clip)
        tables = [reading.table(as_records(part, benchmark.resolve)) for part in records]
    except (UnreadableError, UnreadableFileError) as error:
        raise problems.refusal(error.problem) from None
    return reading.predictions(tables, hashed.hexdigest())


class _Hash(Thread):
    """The SHA-256 of a file, computed while it is read: 1.2 times as fast as in turn, see
    perf/reading.py."""

    def __init__(self, content: object) -> None:
        super().__init__()
        self._content, self._hexdigest = content, ""
        self.start()

    def run(self) -> None:
        if isinstance(self._content, bytes):
            self._hexdigest = hashlib.sha256(self._content).hexdigest()

    def hexdigest(self) -> str:
        """The hash; empty for predictions that are no file."""
        self.join()
        return self._hexdigest


def _inside(content: bytes | list[object], max_bytes: int) -> bytes | list[object]:
    """What a file contains: the samples of a log of Inspect, or the bytes that are packed in it."""
    if not isinstance(content, bytes):
        return content
    samples = eval_samples(content, max_bytes)
    return unpacked(content, max_bytes) if samples is None else samples


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
    unread: tuple[str, ...]


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
    used = {name: key for name, key in fields.items() if name in (*GIVEN, "reason")}
    raw = tuple(folded[key] for key in _RAW_KEYS if key in folded)
    errors = tuple(folded[key] for key in _ERROR_KEYS if key in folded)
    unread = tuple(n for n in names if not (field_of_key(n) or n in (*ids, *raw, *errors)))
    return _Schema(ids, used, raw, errors, nested, unread)


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
        self._n_known = 0
        self.keys = Keys(benchmark, problems)

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
        columns["raw"] = _objects(_first_filled([found[name] for name in schema.raw], nothing))
        columns["status"] = np.full(size, Status.ANSWERED, dtype=object)
        columns["status"][refused] = Status.REFUSED
        columns["key"] = _objects(self.keys.of(records, [found[name] for name in schema.ids]))
        self._n_known += size if schema.fields or schema.raw or schema.errors else 0
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
        clip = self.keys.check(table.columns["key"], table.numbers, table.lines)
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
            raw=columns["raw"],
            warnings=tuple(self._warnings(table, clip)),
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

    def _warnings(self, table: _Table, clip: IntArray) -> Iterator[Problem]:
        """Signs that the records were not read as they were meant."""
        n_records, n_points = len(clip), int(np.count_nonzero(np.isfinite(table.lat)))
        unread = list(dict.fromkeys(name for s in self._schemas.values() for name in s.unread))
        given = [table.columns[f"given {name}"] for name in GIVEN]
        # known fields may also be further in
        known = bool(self._n_known or any(x is not None for column in given for x in column))
        yield from doubts.doubts_of_fields(unread, any_known=known)
        few = doubts.doubt_of_coverage(unread, n_records, n_points) if known else None
        yield from [few] if few else []
        some = slice(None, None, max(1, n_records // doubts.MOST_COMPARED))
        points = (_numbers(column[some].tolist()) for column in given[:2])
        if not self._benchmark.sealed:  # they would tell how near the true places are
            yield from doubts.doubts_of_points(self._benchmark, clip[some], *points)


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


def _first_filled(
    columns: Sequence[Sequence[object]], nothing: Sequence[object]
) -> Sequence[object]:
    """For each record, the first value that is not blank."""
    if len(columns) < 2:
        return columns[0] if columns else nothing
    return [next((v for v in row if not is_blank(v)), None) for row in zip(*columns, strict=True)]


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
