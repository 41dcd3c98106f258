"""Tables of ratings: what judges said of each category's contribution, as CSV.

A row is what one judge said of one category in one recording. ``agl1k localizability rate`` writes
such tables; people may fill them in, too. ``docs/localizability.md`` lists the columns.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agl1k_core import tagging
from agl1k_core.errors import Agl1kError, FileRefusedError, Problem
from agl1k_core.localizability.model import Observations

COLUMNS = (
    "key", "error_km", "id", "class", "presence", "judge", "rating",
    "tagger", "weights_sha256", "threshold",
)  # fmt: skip
_NEEDED = ("key", "error_km", "presence", "judge", "rating")
_MOST_SHOWN = 50
_MEND = "Mend the line, or rate again"

Row = Mapping[str, str]


def write_ratings(path: Path, observations: Observations, tagger: Mapping[str, Any]) -> None:
    """Write a table; raises ``Agl1kError`` where it cannot be written."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", restval="")
            writer.writeheader()
            writer.writerows(_rows(observations, tagger))
        part.replace(path)
    except OSError as error:
        raise Agl1kError(f"{path} cannot be written: {error.strerror}.") from None


def _rows(observations: Observations, tagger: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    told = {
        "tagger": tagger.get("name", ""),
        "weights_sha256": tagger.get("weights_sha256", ""),
        "threshold": tagger.get("threshold", ""),
    }
    for n, key in enumerate(observations.keys):
        about = {"key": key, "error_km": _text(observations.error_km[n]), **told}
        present = np.flatnonzero(observations.presence[n] > 0)
        if not len(present):
            yield about
        for i in present:
            category = observations.categories[i]
            for judge, rated in observations.ratings.items():
                yield {
                    **about,
                    "id": category,
                    "class": tagging.class_name(category),
                    "presence": _text(observations.presence[n, i]),
                    "judge": judge,
                    "rating": _text(rated[n, i]),
                }


def _text(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def read_ratings(paths: Sequence[Path]) -> tuple[Observations, dict[str, Any]]:
    """All tables as one, and what tells their tagger (``localizability.tagger_of``).

    Different judges may have rated the same recordings in different tables. Raises
    ``FileRefusedError`` with all problems of a table, ``Agl1kError`` with those of several.
    """
    found = _Found()
    refusals = []
    for path in paths:
        try:
            _read(path, found)
        except FileRefusedError as refusal:
            refusals.append(refusal)
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        raise Agl1kError("\n".join(map(str, refusals)))
    return found.observations(), found.tagger


@dataclass
class _Found:
    """What the tables said so far."""

    error_km: dict[str, float] = field(default_factory=dict)
    presence: dict[tuple[str, str], float] = field(default_factory=dict)
    ratings: dict[tuple[str, str, str], float] = field(default_factory=dict)
    tagger: dict[str, Any] = field(default_factory=dict)
    told: bool = False

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
    problems: list[Problem] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = [name.strip() for name in reader.fieldnames or []]
            reader.fieldnames = names
            missing = [name for name in _NEEDED if name not in names]
            if not {"id", "class"} & {*names}:
                missing.append("id (or class)")
            if missing:
                todo = "Name the columns as docs/localizability.md does"
                problems = [Problem(f"there is no column {name}", todo, 1) for name in missing]
            else:
                for row in reader:
                    problems += _take(row, reader.line_num, found)
    except (OSError, ValueError, csv.Error) as error:
        told = getattr(error, "strerror", None) or error
        raise FileRefusedError(
            path.name, [Problem(f"it cannot be read as CSV ({told})", "Save it as CSV in UTF-8")]
        ) from None
    if problems:
        raise FileRefusedError(path.name, problems[:_MOST_SHOWN], len(problems))


def _take(row: Mapping[str | None, Any], line: int, found: _Found) -> list[Problem]:
    """Take a row in; the problems that it has."""
    if None in row or None in row.values():
        return [Problem("it has another number of fields than the header", _MEND, line=line)]
    text = {str(name): str(value).strip() for name, value in row.items()}
    key, problems = text["key"], []

    def problem(name: str, told: str) -> None:
        problems.append(Problem(told, _MEND, line=line, clip=key or None, field=name))

    def number(name: str, highest: float) -> float:
        value = math.nan
        with suppress(ValueError):
            value = float(text[name])
        if text[name] and not (0 <= value <= highest and math.isfinite(value)):
            limits = f"from 0 to {highest:g}" if math.isfinite(highest) else "of 0 or more"
            problem(name, f"{text[name]!r:.40} is no number {limits}")
        return value

    if not key:
        problem("key", "it is empty")
    error_km = number("error_km", math.inf)
    if not _same(found.error_km.setdefault(key, error_km), error_km):
        problem("error_km", f"{error_km:g} here, {found.error_km[key]:g} before")
    _take_tagger(text, found, problem)
    category = _category(text, problem)
    if category:
        _take_rating(key, category, text, found, problem, number)
    return problems


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _take_tagger(text: Row, found: _Found, problem: Any) -> None:
    threshold: Any = text.get("threshold", "")
    with suppress(ValueError):
        threshold = float(threshold)
    told = {
        "name": text.get("tagger", ""),
        "weights_sha256": text.get("weights_sha256", ""),
        "threshold": threshold,
    }
    tagger = told if any(value != "" for value in told.values()) else {}
    if not found.told:
        found.tagger, found.told = tagger, True
    if tagger != found.tagger:
        problem("tagger", f"{tagger or 'none'} here, {found.tagger or 'none'} before")


def _category(text: Row, problem: Any) -> str:
    """The AudioSet id of a row, by itself or by the class's name; "" where there is none."""
    class_id, name = text.get("id", ""), text.get("class", "")
    if class_id:
        if class_id not in tagging.audioset_classes():
            problem("id", f"AudioSet has no class {class_id!r:.40}")
        return class_id
    if name and name not in tagging.class_ids_by_name():
        problem("class", f"AudioSet has no class {name!r:.40}")
    return tagging.class_ids_by_name().get(name, name)


def _take_rating(
    key: str, category: str, text: Row, found: _Found, problem: Any, number: Any
) -> None:
    judge, presence, rating = text["judge"], number("presence", 1.0), number("rating", 1.0)
    if not text["presence"]:
        problem("presence", "it is empty")
    if not judge:
        problem("judge", "it is empty")
    if not _same(found.presence.setdefault((key, category), presence), presence):
        before = found.presence[key, category]
        problem("presence", f"{presence:g} here, {before:g} before, for {category}")
    if (key, category, judge) in found.ratings:
        problem("judge", f"{judge} has rated {category} before")
    found.ratings[key, category, judge] = rating
