"""The listener's predictions that a board shows: those in the package, and those on this machine.

The package has them for the demo pack. An operator who has the recordings of another benchmark
runs ``agl1k listen`` with ``--output <data>/listener/<slug>/predictions.jsonl``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.files import json_lines
from agl1k_core.listener.belief import Heard
from agl1k_core.listener.listening import heard_beside, is_listeners
from agl1k_core.listener.pictures import map_of
from agl1k_core.models import provenance_beside

_FILE = "predictions.jsonl"


@dataclass(frozen=True)
class Stored:
    """A prediction file of the listener, and how it came about."""

    file: Path
    provenance: Mapping[str, Any]

    def maps(self, most: int) -> tuple[str, ...]:
        """Belief maps as SVG, for one page: the first has the outline of land.

        Clips in which the same was heard share one; the first ``most`` are drawn.
        """
        heard = self.heard()
        alike: dict[str, list[dict[str, Any]]] = {}
        for record in json_lines(self.file):
            if record["key"] in heard and "reason" in record:
                alike.setdefault(record["reason"], []).append(record)
        groups = list(alike.values())[:most]
        return tuple(
            map_of(
                heard[group[0]["key"]],
                _title(group),
                (group[0]["latitude"], group[0]["longitude"]),
                with_outline=number == 0,
            )
            for number, group in enumerate(groups)
        )

    def heard(self) -> dict[str, Heard]:
        """What was heard in each clip, as kept beside the file; empty if it is not."""
        return heard_beside(self.file)


def _title(group: Sequence[Mapping[str, Any]]) -> str:
    others = len(group) - 1
    more = f" and {others:,} other{'s' if others > 1 else ''}" if others else ""
    return f"{group[0]['key']}{more}"


def stored_predictions(benchmark: Benchmark, data_dir: Path | None = None) -> Stored | None:
    """The listener's predictions for a benchmark, as it is now; None if there are none.

    Parameters
    ----------
    benchmark
        Predictions for another version of its table do not count.
    data_dir
        The folder for data of this machine, whose predictions come first.

    Examples
    --------
    >>> from agl1k_core.benchmarks import load_benchmark
    >>> stored_predictions(load_benchmark("demo")).file.name
    'predictions.jsonl'
    """
    package = Path(str(resources.files("agl1k_core.listener"))) / "data"
    folders = [package / benchmark.slug]
    if data_dir is not None:
        folders.insert(0, data_dir / "listener" / benchmark.slug)
    found = (_stored(folder / _FILE, benchmark) for folder in folders)
    return next(filter(None, found), None)


def _stored(file: Path, benchmark: Benchmark) -> Stored | None:
    try:
        told = provenance_beside(file) if file.is_file() else None
    except (Agl1kError, OSError):  # changed by hand, or half copied
        return None
    if told is None or not is_listeners(told) or not _is_about(told, benchmark):
        return None
    return Stored(file, told)


def _is_about(told: Mapping[str, Any], benchmark: Benchmark) -> bool:
    about = told.get("benchmark")
    return isinstance(about, Mapping) and about.get("hash") == benchmark.content_hash
