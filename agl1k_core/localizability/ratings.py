"""Tables of ratings, as CSV: how judges rated each category's contribution.

A row is one judge's rating of one category in one recording. ``agl1k localizability rate`` writes
such tables, and people may fill them in as well. ``docs/localizability.md`` lists the columns.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agl1k_core import tagging
from agl1k_core.benchmarks import TableRow, missing_column, read_rows
from agl1k_core.errors import Agl1kError, Problem, Problems
from agl1k_core.file_names import shown
from agl1k_core.files import write_atomically
from agl1k_core.inputs import name_of
from agl1k_core.localizability.observations import Observations

COLUMNS = (
    "key", "error_km", "id", "class", "presence", "judge", "rating",
    "tagger", "weights_sha256", "threshold",
)  # fmt: skip
_NEEDED = ("key", "error_km", "presence", "judge", "rating")
_TODO = "Correct the line, or rate again"


def write_ratings(path: Path, observations: Observations, tagger: Mapping[str, Any]) -> None:
    """Write a table of ratings; raises ``Agl1kError`` if it cannot be written."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(_rows(observations, tagger))
    try:
        write_atomically(path, text.getvalue())
    except OSError as error:
        raise Agl1kError(f"{shown(path)} cannot be written: {error.strerror}.") from None


def _rows(observations: Observations, tagger: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    made_by = {
        "tagger": tagger.get("name", ""),
        "weights_sha256": tagger.get("weights_sha256", ""),
        "threshold": tagger.get("threshold", ""),
    }
    for n, key in enumerate(observations.keys):
        recording = {"key": key, "error_km": _text(observations.error_km[n]), **made_by}
        present = np.flatnonzero(observations.presence[n] > 0)
        if not len(present):
            yield recording
        for i in present:
            yield from (recording | row for row in _category_rows(observations, n, int(i)))


def _category_rows(observations: Observations, n: int, i: int) -> Iterator[dict[str, object]]:
    category = {
        "id": observations.categories[i],
        "class": tagging.class_name(observations.categories[i]),
        "presence": _text(observations.presence[n, i]),
    }
    for judge, rated in observations.ratings.items():
        yield {**category, "judge": judge, "rating": _text(rated[n, i])}


def _text(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def read_ratings(paths: Sequence[Path]) -> tuple[Observations, dict[str, Any]]:
    """Read tables of ratings as one.

    Different judges may have rated the same recordings in different tables.

    Parameters
    ----------
    paths
        The tables.

    Returns
    -------
    observations : Observations
        What the model is fitted to.
    tagger : dict
        The tagger behind the presences, see ``tagger_of``; empty if the tables name none.

    Raises
    ------
    FileRefusedError
        With all problems of one table.
    Agl1kError
        With all problems of several tables, or if one cannot be read.
    """
    found = _Found()
    refusals: list[Agl1kError] = []
    for path in paths:
        try:
            _read(path, found)
        except Agl1kError as refusal:
            refusals.append(refusal)
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        raise Agl1kError("\n".join(map(str, refusals)))
    return found.observations(), found.tagger or {}


@dataclass
class _Found:
    """What the tables contain so far; ``tagger`` is None before the first row."""

    error_km: dict[str, float] = field(default_factory=dict)
    presence: dict[tuple[str, str], float] = field(default_factory=dict)
    ratings: dict[tuple[str, str, str], float] = field(default_factory=dict)
    tagger: dict[str, Any] | None = None

    def observations(self) -> Observations:
        """The same as arrays; categories in the order of their ids, recordings as they came."""
        keys = {key: n for n, key in enumerate(self.error_km)}
        categories = {name: i for i, name in enumerate(sorted({name for _, name in self.presence}))}
        judges = dict.fromkeys(judge for _, _, judge in self.ratings)
        shape = len(keys), len(categories)
        presence = np.zeros(shape)
        for (key, category), value in self.presence.items():
            presence[keys[key], categories[category]] = value
        ratings = {judge: np.full(shape, np.nan) for judge in judges}
        for (key, category, judge), value in self.ratings.items():
            ratings[judge][keys[key], categories[category]] = value
        error_km = np.array([*self.error_km.values()], dtype=np.float64)
        return Observations((*keys,), (*categories,), presence, error_km, ratings)


def _read(path: Path, found: _Found) -> None:
    problems = Problems(name_of(path))
    for row in read_rows(path, problems, _columns):
        _take_recording(row, found)
        _take_tagger(row, found)
        category = _category(row)
        if category:
            _take_rating(row, category, found)
    problems.raise_if_any()


def _columns(header: list[str], first_width: int, problems: Problems) -> list[str]:
    todo = "Name the columns as docs/localizability.md does"
    for name in _NEEDED:
        if name not in header:
            problems.add(missing_column(name, header, todo))
    if not {"id", "class"} & {*header}:
        problems.add(Problem("there is no column id (or class)", todo, line=1))
    return header


def _take_recording(row: TableRow, found: _Found) -> None:
    key, error_km = row.text("key"), _number(row, "error_km", math.inf)
    if not key:
        row.problem("key", "it is empty", _TODO)
    before = found.error_km.setdefault(key, error_km)
    if not _same(before, error_km):
        row.problem("error_km", f"{error_km:g} here, {before:g} before", _TODO)


def _number(row: TableRow, name: str, highest: float) -> float:
    value = row.number(name, 0, highest)
    return math.nan if value is None else value


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _take_tagger(row: TableRow, found: _Found) -> None:
    threshold: Any = row.text("threshold")
    with suppress(ValueError):
        threshold = float(threshold)
    named = {
        "name": row.text("tagger"),
        "weights_sha256": row.text("weights_sha256"),
        "threshold": threshold,
    }
    tagger = named if any(value != "" for value in named.values()) else {}
    if found.tagger is None:
        found.tagger = tagger
    if tagger != found.tagger:
        row.problem("tagger", f"{tagger or 'none'} here, {found.tagger or 'none'} before", _TODO)


def _category(row: TableRow) -> str:
    """The row's AudioSet id, given as such or by the class's name; empty without either."""
    class_id, name = row.text("id"), row.text("class")
    if class_id:
        if class_id not in tagging.audioset_classes():
            row.problem("id", f"AudioSet has no class {class_id!r:.40}", _TODO)
        return class_id
    if name and name not in tagging.class_ids_by_name():
        row.problem("class", f"AudioSet has no class {name!r:.40}", _TODO)
    return tagging.class_ids_by_name().get(name, name)


def _take_rating(row: TableRow, category: str, found: _Found) -> None:
    key, judge = row.text("key"), row.text("judge")
    presence, rating = _number(row, "presence", 1.0), _number(row, "rating", 1.0)
    for name in ("presence", "judge"):
        if not row.text(name):
            row.problem(name, "it is empty", _TODO)
    before = found.presence.setdefault((key, category), presence)
    if not _same(before, presence):
        row.problem("presence", f"{presence:g} here, {before:g} before, for {category}", _TODO)
    if (key, category, judge) in found.ratings:
        row.problem("judge", f"{judge} has already rated {category}", _TODO)
    found.ratings[key, category, judge] = rating
