"""The published rows: an Arrow schema for each kind, and Parquet files.

Nothing else is published: no nickname, and nothing that identifies a player.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from agl1k_core.errors import Agl1kError
from store.tools import STORED

_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int32()
_TIME = pa.timestamp("us", tz="UTC")
_MARK = b"agl1k"  # key of the kind in a file's metadata: files without it are never touched


@dataclass(frozen=True, slots=True)
class Field:
    """One published column; ``about`` says what it means and its unit.

    ``needed``: never None in any file, old ones included; so not for a column that is added later.
    """

    name: str
    type: pa.DataType
    about: str
    needed: bool = True
    limits: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()

    def holds(self, column: pa.ChunkedArray) -> bool:
        """Whether every value can have been written by AGL1K."""
        if self.needed and column.null_count:
            return False
        if self.choices and not set(column.unique().to_pylist()) <= {*self.choices, None}:
            return False
        if self.limits is None or column.null_count == len(column):
            return True
        found = pc.min_max(column).as_py()
        return bool(self.limits[0] <= found["min"] and found["max"] <= self.limits[1])


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of published row: one configuration of the dataset.

    New columns go to the end of ``fields``; they are None in older files.
    """

    name: str
    about: str
    id_column: str
    fields: tuple[Field, ...]

    @property
    def schema(self) -> pa.Schema:
        """The declared schema, with the kind in its metadata."""
        columns = [(field.name, field.type) for field in self.fields]
        return pa.schema(columns, metadata={_MARK: self.name.encode()})

    def table(self, rows: Iterable[Mapping[str, object]]) -> pa.Table:
        """The rows as a table of the declared schema; other keys are ignored."""
        return pa.Table.from_pylist([dict(row) for row in rows], schema=self.schema)

    def conform(self, table: pa.Table) -> pa.Table:
        """A table of another version, converted to the current schema: missing columns are None.

        Columns of a newer version follow ours, so that rewriting a file keeps them.
        """
        columns = [
            table[field.name].cast(field.type)
            if field.name in table.column_names
            else pa.nulls(len(table), field.type)
            for field in self.fields
        ]
        conformed = pa.Table.from_arrays(columns, schema=self.schema)
        for name in table.column_names:
            if name not in conformed.column_names:
                conformed = conformed.append_column(name, table[name])
        return conformed


_ROW = (
    Field("player_id", _TEXT, "random id that the server gave to a browser and signed"),
    Field("benchmark", _TEXT, "slug of the benchmark"),
    Field("benchmark_hash", _TEXT, "hash of the benchmark's clips and labels"),
    Field("clip_key", _TEXT, "key of the clip in the benchmark"),
)
_WHERE = (
    Field("round_id", _TEXT, "random id of the round of five"),
    Field("position", _COUNT, "place of the clip in the round, from 0"),
)
_PIN = (
    Field(
        "latitude",
        _NUMBER,
        "guessed latitude in degrees north, −90 to 90",
        needed=False,
        limits=(-90, 90),
    ),
    Field(
        "longitude",
        _NUMBER,
        "guessed longitude in degrees east, −180 to 180",
        needed=False,
        limits=(-180, 180),
    ),
    Field("distance_km", _NUMBER, "geodesic distance to the true place in km", needed=False),
)
_HOW = (
    Field("score", _NUMBER, "geoscore, 0 to 5000: 5000·exp(−distance_km / 1492.7)", needed=False),
    Field("seconds", _NUMBER, "seconds from hearing to answering", needed=False),
    Field("mode", _TEXT, "free, daily or challenge", choices=("free", "daily", "challenge")),
    Field("app_version", _TEXT, "version of AGL1K that stored the answer"),
    Field("created_utc", _TIME, "when it was stored, in UTC"),
)
_TOOLS = Field(
    "tools",
    _TEXT,
    "tools that the player used to listen closely, comma-separated: loop (a segment again), slow, "
    "band (of frequencies), boost, spectrogram; empty: none, null: not known",
    needed=False,
    choices=STORED,
)

GUESSES = Kind(
    "guesses",
    "where players placed the sound of a clip",
    "guess_id",
    (
        Field("guess_id", _TEXT, "unique id of the answer, derived from round and position"),
        *_WHERE,
        *_ROW,
        *_PIN,
        *_HOW,
        _TOOLS,
    ),
)
SKIPS = Kind(
    "skips",
    "clips that players skipped, ran out of time on, or reported as broken",
    "guess_id",
    (
        Field("guess_id", _TEXT, "unique id of the answer, derived from round and position"),
        *_WHERE,
        *_ROW,
        Field(
            "action",
            _TEXT,
            "skip, timeout or broken (a report that it cannot be heard)",
            choices=("skip", "timeout", "broken"),
        ),
        *_HOW,
        *_PIN,  # the pin, if it was dropped after the time was up
        _TOOLS,
    ),
)
#: Scores of a submission that get columns, from the ``metrics`` of its evaluation.
SCORES = (
    ("distance_km", "mean distance in km under the protocol"),
    ("geoscore", "mean geoscore, 0 to 5000"),
    ("continent_accuracy", "share of clips with the right continent, 0 to 1"),
    ("country_accuracy", "share of clips with the right country, 0 to 1"),
    ("city_accuracy", "share of clips with the right city, 0 to 1"),
    ("reject_rate", "share of clips without a usable answer, 0 to 1"),
)
SUBMISSIONS = Kind(
    "submissions",
    "prediction files that were submitted to the leaderboard, with their scores",
    "submission_id",
    (
        Field("submission_id", _TEXT, "random id of the submission"),
        Field("benchmark", _TEXT, "slug of the benchmark"),
        Field("benchmark_hash", _TEXT, "hash of the benchmark's clips and labels"),
        Field("model", _TEXT, "name of the model, as the submitter gave it"),
        Field("organisation", _TEXT, "who made the model, as the submitter gave it"),
        Field("link", _TEXT, "page about the model"),
        Field("weights", _TEXT, "open or closed", choices=("open", "closed")),
        Field("prompt", _TEXT, "prompt that was used"),
        Field("model_date", _TEXT, "date of the model, YYYY-MM-DD"),
        Field(
            "kind",
            _TEXT,
            "verified (scored here) or baseline",
            choices=("verified", "baseline"),
        ),
        Field("owner", _TEXT, "Hub name that a login vouched for, or empty"),
        Field("protocol", _TEXT, "how predictions counted"),
        Field("scorer_version", _TEXT, "version of the scorer"),
        *(Field(name, _NUMBER, about, needed=False) for name, about in SCORES),
        Field("evaluation", _TEXT, "the whole evaluation as JSON, with intervals and subsets"),
        Field("file_name", _TEXT, "name of the submitted file"),
        Field("file_sha256", _TEXT, "SHA-256 of the submitted file, in hex"),
        Field("file_bytes", pa.int64(), "size of the submitted file in bytes"),
        Field("file", pa.large_binary(), "the submitted file; empty if it is not shared"),
        Field("withdraw_key_sha256", _TEXT, "SHA-256 of the 192-bit random key that withdraws it"),
        Field("created_utc", _TIME, "when it was submitted, in UTC"),
        Field(
            "series",
            _TEXT,
            "id of the first submission of the row that this one belongs to, or empty",
            needed=False,
        ),
        Field(
            "relation",
            _TEXT,
            "replaces (all earlier files of the row) or run (another run of the same model)",
            needed=False,
            choices=("", "replaces", "run"),
        ),
        Field(
            "is_shared",
            pa.bool_(),
            "whether the submitter lets others have the file; if not, `file` is empty",
            needed=False,
        ),
    ),
)
REMOVALS = Kind(
    "removals",
    "what was deleted on request, so that every server that publishes here deletes it",
    "removal_id",
    (
        Field("removal_id", _TEXT, "random id of the removal"),
        Field(
            "subject",
            _TEXT,
            "SHA-256, in hex, of `player:` or `submission:` and the id; a player's rows stored "
            "before `created_utc` are meant",
        ),
        Field("created_utc", _TIME, "when it was deleted, in UTC"),
    ),
)
DECISIONS = Kind(
    "decisions",
    "what operators decided about submissions; the last decision holds",
    "decision_id",
    (
        Field("decision_id", _TEXT, "random id of the decision"),
        Field("subject", _TEXT, "id of the submission"),
        Field(
            "action",
            _TEXT,
            "hold (until an operator has looked at it), hide, restore, remove, verify or unverify",
            choices=("hold", "hide", "restore", "remove", "verify", "unverify"),
        ),
        Field("reason", _TEXT, "why, in words for everybody"),
        Field("created_utc", _TIME, "when it was decided, in UTC"),
    ),
)
KINDS = {kind.name: kind for kind in (GUESSES, SKIPS, SUBMISSIONS, REMOVALS, DECISIONS)}

_NAME = re.compile(
    r"data/(?P<kind>[a-z]+)/(?P<day>\d{4}-\d\d-\d\d)/[0-9a-z]+(-[0-9a-z]+)*\.parquet"
)


def shard_name(kind: Kind, day: str, origin: str, content: bytes) -> str:
    """A name derived from the content, so that not even a restored backup overwrites a file."""
    return f"data/{kind.name}/{day}/{origin}-{hashlib.sha256(content).hexdigest()[:16]}.parquet"


def kind_of(path: str) -> Kind | None:
    """The kind of a file by its name; None if AGL1K does not use such names."""
    found = _NAME.fullmatch(path)
    return KINDS.get(found["kind"]) if found else None


def day_of(path: str) -> str:
    """The day, YYYY-MM-DD, in a file's name."""
    found = _NAME.fullmatch(path)
    return found["day"] if found else ""


def to_parquet(table: pa.Table) -> bytes:
    """The table as a Parquet file; the same rows always give the same bytes."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def from_parquet(name: str, content: bytes) -> pa.Table:
    """The rows of a file in the current schema, followed by columns of newer versions.

    Raises ``Agl1kError`` if the file was not written by AGL1K, or is broken.
    """
    kind = kind_of(name)
    if kind is None:
        raise Agl1kError(f"{name} is not a name that AGL1K uses. The file is left alone.")
    try:
        table = pq.read_table(io.BytesIO(content))
        if (table.schema.metadata or {}).get(_MARK) != kind.name.encode():
            raise Agl1kError(f"{name} was not written by AGL1K. {_MOVE_IT}")
        conformed = kind.conform(table)
    except (pa.ArrowException, OSError):
        raise Agl1kError(f"{name} is broken: it cannot be read as Parquet. {_MOVE_IT}") from None
    odd = [field.name for field in kind.fields if not field.holds(conformed[field.name])]
    if odd:
        raise Agl1kError(
            f"{name} has values of {', '.join(odd)} that AGL1K cannot have written. {_MOVE_IT}"
        )
    return conformed


_MOVE_IT = "It is left alone; move it out of the dataset's data folder, or load_dataset may fail."


def joined(kind: Kind, tables: Sequence[pa.Table]) -> pa.Table:
    """All rows, oldest first, without duplicate ids."""
    table = pa.concat_tables(tables, promote_options="default").sort_by(
        [("created_utc", "ascending"), (kind.id_column, "ascending")]
    )
    ids = table[kind.id_column].to_pylist()
    first = {name: index for index, name in reversed(list(enumerate(ids)))}
    return table if len(first) == len(ids) else table.take(sorted(first.values()))
