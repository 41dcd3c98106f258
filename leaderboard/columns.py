"""The columns of a board: how values are formatted, and whether lower is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agl1k_core.scoring import CLIP_METRICS, LOWER_IS_BETTER, METRICS, THRESHOLDS_KM

Unit = Literal["km", "points", "share", "count", "text"]

#: Subset -> its name on the page; "all" is the whole benchmark.
SUBSETS: Mapping[str, str] = {
    "all": "All clips",
    "speech": "Speech",
    "non_speech": "No speech",
    "animal": "Animals, no speech",
    "music": "Music, no speech",
    "nature": "Nature, no speech",
    "things": "Things, no speech",
    "Africa": "Africa",
    "Asia": "Asia",
    "Europe": "Europe",
    "North America": "North America",
    "South America": "South America",
    "Oceania": "Oceania",
    "Antarctica": "Antarctica",
}

#: Metrics by which models can be ranked: those that are means over clips.
RANKABLE = CLIP_METRICS


@dataclass(frozen=True, slots=True)
class Column:
    """``name`` is that of the metric or field; ``label`` heads the column, ``help`` explains it."""

    name: str
    label: str
    unit: Unit
    help: str

    @property
    def is_metric(self) -> bool:
        return self.name in METRICS

    @property
    def lower_is_better(self) -> bool:
        return self.name in LOWER_IS_BETTER

    def text(self, value: float, *, coarse: bool = False) -> str:
        """A value for the page, "–" if there is none. ``coarse``: shares have two digits."""
        if not math.isfinite(value):
            return "–"
        if self.unit == "share":
            return f"{100 * value:.0f}" if coarse else f"{100 * value:.1f}"
        return f"{value:,.0f}" if self.unit == "count" else f"{value:,.2f}"


def _metric_columns() -> list[Column]:
    labels = ("continent", "country", "city")
    found = [
        Column(
            "distance_km", "Distance, km", "km", "Mean geodesic distance; 10,000 km if no point"
        ),
        Column("geoscore", "Geoscore", "points", "5000·exp(−distance/1492.7), mean over clips"),
        *(
            Column(f"{label}_accuracy", f"{label.title()}, %", "share", f"Right {label} named")
            for label in labels
        ),
        Column("reject_rate", "Refused, %", "share", "Share of clips the model refused"),
        *(
            Column(f"within_{km}km", f"<{km:,} km, %", "share", f"Closer than {km:,} km")
            for km in THRESHOLDS_KM
        ),
        *(
            Column(f"distance_q{q}_km", f"Quartile {q}, km", "km", f"{q} % of clips are closer")
            for q in (25, 50, 75)
        ),
        *(
            Column(
                f"implied_{label}_accuracy",
                f"{label.title()} of point, %",
                "share",
                f"The point itself lies in the right {label}",
            )
            for label in labels
        ),
        Column("balanced_geoscore", "Balanced geoscore", "points", "All continents count alike"),
        Column("balanced_distance_km", "Balanced distance, km", "km", "All continents count alike"),
        Column(
            "balanced_continent_accuracy",
            "Balanced continent, %",
            "share",
            "All continents count alike",
        ),
        Column(
            "balanced_country_accuracy",
            "Balanced country, %",
            "share",
            "All continents count alike",
        ),
    ]
    return found


_FIELDS = [
    Column("coverage", "Coverage, %", "share", "Clips of the benchmark with a record in the file"),
    Column("organisation", "Organisation", "text", "Who made the model"),
    Column("weights", "Weights", "text", "Open or closed weights"),
    Column("date", "Date", "text", "The model's date as the submitter gave it"),
]

#: Every column besides rank and model, in the order of the page.
COLUMN: Mapping[str, Column] = {column.name: column for column in [*_metric_columns(), *_FIELDS]}

DEFAULT_COLUMNS = (
    "distance_km",
    "geoscore",
    "continent_accuracy",
    "country_accuracy",
    "city_accuracy",
    "reject_rate",
    "within_10km",
    "within_500km",
)
