"""Reports on a fitted localizability model, as numbers and as a page of figures.

The figures are those of Zhang et al. 2026, "The Sonar Moment": 3, 4, 10 and 11. The page includes
plotly's script, so it needs no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from agl1k_core import tagging
from agl1k_core.localizability import figures
from agl1k_core.localizability.agreement import Agreement, by_continent, judge_agreement
from agl1k_core.localizability.model import Localizability
from agl1k_core.localizability.observations import Observations
from agl1k_core.report_pages import page, paragraph, section, table_html

N_EXAMPLES = 8


@dataclass(frozen=True)
class ReportInput:
    """A model and what is reported with it; all but the model may be missing.

    Attributes
    ----------
    model
        The model.
    observations
        What it was fitted to.
    presences
        By recording, the fraction of time of each AudioSet id.
    continents
        By recording, its continent.
    """

    model: Localizability
    observations: Observations | None = None
    presences: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    continents: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, float]:
        """``l_k`` of each recording."""
        return {name: self.model.score(presence) for name, presence in self.presences.items()}

    @property
    def agreement(self) -> Agreement | None:
        """How similar the judges are; None if fewer than two rated."""
        if self.observations is None or len(self.observations.ratings) < 2:
            return None
        return judge_agreement(self.observations)

    @property
    def by_continent(self) -> pd.DataFrame:
        """Localizability by continent; empty if no continent is known."""
        scores = self.scores
        named = [name for name in scores if self.continents.get(name)]
        return by_continent([scores[n] for n in named], [self.continents[n] for n in named])

    @property
    def examples(self) -> dict[str, Mapping[str, float]]:
        """At most ``N_EXAMPLES`` recordings, from the lowest score to the highest."""
        scores = self.scores
        names = sorted(scores, key=lambda name: (scores[name], name))
        places = np.linspace(0, max(len(names) - 1, 0), min(N_EXAMPLES, len(names)))
        return {names[round(place)]: self.presences[names[round(place)]] for place in places}


def report_numbers(source: ReportInput) -> dict[str, Any]:
    """All numbers of the report as plain data; missing ones are None."""
    model, pairs = source.model, source.agreement
    positive, negative = model.top()
    scores = source.scores
    return {
        "alpha": model.alpha,
        "gamma_km": model.gamma_km,
        "theta": model.theta,
        "min_recordings": model.min_recordings,
        "n_positive": len(model.positive),
        "n_negative": len(model.negative),
        "top_positive": [{"class": name, "slope": slope} for name, slope in positive],
        "top_negative": [{"class": name, "slope": slope} for name, slope in negative],
        "agreement": None if pairs is None else _records(pairs.to_frame()),
        "by_continent": _records(source.by_continent),
        "n_scored": len(scores),
        "n_localizable": sum(map(model.is_localizable, scores.values())),
        "scores": scores,
        "provenance": dict(model.provenance),
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def report_page(source: ReportInput, title: str = "Audio Localizability") -> str:
    """The report as one HTML page; raises ``Agl1kError`` if plotly is not installed."""
    return page(title, [paragraph(". ".join(about_lines(source)) + "."), *_sections(source)])


def _sections(source: ReportInput) -> Iterator[str]:
    yield section(
        "Top categories",
        figures.top_categories_figure(source.model),
        "Slopes of the categories that count most for and against a place (the paper's Figure 3).",
    )
    if source.presences:
        yield section(
            "Examples",
            figures.examples_figure(source.model, source.examples),
            "What makes up the localizability of recordings, from the lowest to the highest of "
            "all (Figure 4).",
        )
    if (pairs := source.agreement) is not None:
        yield section(
            "Agreement between judges",
            figures.agreement_figure(pairs),
            "Cosine of the contributions per recording, correlation of the categories' totals, "
            "overlap of the ten highest (Figure 10).",
        )
        yield table_html(pairs.to_frame())
    if len(table := source.by_continent):
        yield section(
            "By continent",
            figures.continents_figure(source.scores, source.continents, source.model.theta),
            "Localizability of the recordings (Figure 11).",
        )
        yield table_html(table)


def about_lines(source: ReportInput) -> list[str]:
    """Sentences about the model and its scores, without full stops."""
    model, scores = source.model, source.scores
    about = model.provenance
    tagger, judges = about.get("tagger") or {}, about.get("judges") or []
    lines = [
        f"Fitted to {about.get('n_recordings', 'unknown')} recordings, "
        f"{about.get('n_near', 'unknown')} with an error below {model.gamma_km:g} km and "
        f"{about.get('n_far', 'unknown')} with a larger one; "
        f"tagger: {tagger.get('name') or 'unknown'}; judges: {', '.join(judges) or 'none'}",
        f"{len(model.positive)} positive and {len(model.negative)} negative categories, "
        f"slope above {model.alpha:.4g}, from at least {model.min_recordings} "
        f"recording{'s' * (model.min_recordings != 1)}",
    ]
    if scores:
        n_localizable = sum(map(model.is_localizable, scores.values()))
        lines.append(
            f"{n_localizable} of {len(scores)} recordings are localizable, above {model.theta:g}"
        )
    return lines


def category_rows(model: Localizability) -> list[tuple[str, str, float, int]]:
    """Side, class, slope and number of recordings of the top categories, positive first."""
    place = {name: n for n, name in enumerate(model.categories)}
    sides = (("positive", model.positive, model.n_near), ("negative", model.negative, model.n_far))
    return [
        (side, tagging.class_name(name), slope, int(counts[place[name]]))
        for side, slopes, counts in sides
        for name, slope in [*slopes.items()][:10]
    ]
