"""Asks a model for places to pose as tasks, for each continent and level of difficulty.

Learning to Wander, section 3.5: four places for each of six continents and three levels, 72 in all.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from agl1k_core.answers import objects_in
from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.errors import Agl1kError
from agl1k_core.files import json_lines, save_text
from agl1k_core.models import Listeners, Model, Prompt, RunLimits, RunSettings, run_model
from agl1k_core.wander.proposing import LEVELS

CONTINENTS = ("Africa", "Asia", "Europe", "North America", "Oceania", "South America")
#: Places asked for at once, for a continent and a level.
PLACES_EACH = 4
PLACES = "places.csv"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A place that a model proposed, for a continent and a level of difficulty."""

    continent: str
    level: str
    latitude: float
    longitude: float
    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Proposals:
    """What a model proposed, and what could not be used of it, in sentences.

    ``stopped`` says why the run stopped early; empty if it did not.
    """

    places: tuple[Proposal, ...]
    problems: tuple[str, ...]
    stopped: str = ""


@dataclass(frozen=True)
class PosingSettings:
    """Which model is asked, and how; see ``agl1k_core.models.RunSettings``."""

    model: str
    where: str
    parameters: Mapping[str, float | int | None] = field(default_factory=dict)
    n_each: int = PLACES_EACH

    def for_run(self) -> RunSettings:
        """The settings of the run."""
        texts = {
            _key(continent, level): f"Propose {self.n_each} places in {continent} that are {level}."
            for continent, level in _tasks()
        }
        path = resources.files("agl1k_core.wander") / "data" / "propose_prompt.txt"
        return RunSettings(
            self.model,
            self.where,
            Prompt(path.read_text("utf-8").strip()),
            parameters=self.parameters,
            control="without-audio",
            texts=texts,
            about={"places asked for at once": self.n_each},
        )


def ask_for_places(
    model: Model,
    settings: PosingSettings,
    folder: Path,
    limits: RunLimits,
    listeners: Listeners | None = None,
) -> Proposals:
    """Ask a model for places; run again to resume.

    Parameters
    ----------
    model, settings
        Whom to ask, and how.
    folder
        Where the journal, the raw answers (``predictions.jsonl``) and ``places.csv`` go.
    limits, listeners
        As for ``agl1k_core.models.run_model``.

    Raises
    ------
    Agl1kError
        As ``run_model``.
    """
    tasks = Benchmark(
        "wander-places", "Places to propose", "1",
        tuple(Clip(_key(*task), math.nan, math.nan, continent=task[0]) for task in _tasks()),
    )  # fmt: skip
    result, stopped = run_model(tasks, model, settings.for_run(), folder, limits, listeners)
    proposals = read_proposals(result.files, stopped)
    save_text(folder / PLACES, places_csv(proposals.places))
    return proposals


def read_proposals(files: Sequence[Path], stopped: str = "") -> Proposals:
    """The places in the raw answers of a run; raises ``Agl1kError`` if a file cannot be read."""
    tasks = {_key(*task): task for task in _tasks()}
    found = [
        one
        for file in files
        for record in _records(file)
        for one in _proposed(*tasks[record["key"]], record)
    ]
    places = tuple(one for one in found if isinstance(one, Proposal))
    problems = tuple(one for one in found if isinstance(one, str))
    return Proposals(places, problems, stopped)


def places_csv(places: Sequence[Proposal]) -> str:
    """Proposals as a table."""
    text = io.StringIO()
    names = [*Proposal.__dataclass_fields__]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, places))
    return text.getvalue()


def _tasks() -> list[tuple[str, str]]:
    return [(continent, level) for continent in CONTINENTS for level in LEVELS]


def _key(continent: str, level: str) -> str:
    """What a question is called.

    Examples
    --------
    >>> _key("North America", "hard")
    'north-america-hard'
    """
    return f"{continent}-{level}".lower().replace(" ", "-")


def _records(file: Path) -> list[dict[str, Any]]:
    try:
        return json_lines(file)
    except (OSError, ValueError) as error:
        raise Agl1kError(f"{file} cannot be read: {error}.") from None


def _proposed(continent: str, level: str, record: Mapping[str, Any]) -> Iterator[Proposal | str]:
    """The places of an answer, or a sentence for each that is none."""
    task = f"{continent}, {level}"
    if "error" in record:
        yield f"{task}: there is no answer: {record['error']}"
        return
    lists = (one.get("places") for one in reversed(objects_in(record["model_output"])))
    places = next((found for found in lists if isinstance(found, list)), None)
    if places is None:
        yield f"{task}: the answer has no list of places"
        return
    for number, place in enumerate(places, 1):
        told = place if isinstance(place, Mapping) else {}
        lat, lon = _number(told.get("latitude"), 90), _number(told.get("longitude"), 180)
        if lat is None or lon is None:
            yield f"{task}: place {number} has no coordinates that can be used"
        else:
            words = (_words(told.get(name)) for name in ("name", "reason"))
            yield Proposal(continent, level, lat, lon, *words)


def _number(value: object, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) <= most else None


def _words(value: object) -> str:
    return " ".join(value.split())[:2_000] if isinstance(value, str) else ""
