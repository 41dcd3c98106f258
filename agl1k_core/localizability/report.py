"""A fitted localizability model in numbers and on one page: Figures 3, 4, 10 and 11 of the paper.

The page needs no network: plotly's script is in it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from agl1k_core import tagging
from agl1k_core.extras import check
from agl1k_core.localizability.agreement import Agreement, by_continent, judge_agreement
from agl1k_core.localizability.model import Localizability, Observations

N_EXAMPLES = 8

_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  background: light-dark(#f6f5f1, #111615); color: light-dark(#1c2422, #e6ebe9); }
h1 { font-size: 1.5625rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; border-top: 1px solid #7d8a8655; text-align: left; }
td + td, th + th { text-align: right; }
.wide { overflow-x: auto; }
.wide > div { min-width: 36rem; }
"""


@dataclass(frozen=True)
class Material:
    """What a report is made of, beside the model; any of it may be missing.

    ``presences``: name -> AudioSet id -> share of time; ``continents``: name -> continent.
    """

    model: Localizability
    observations: Observations | None = None
    presences: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    continents: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, float]:
        """Name -> ``l_k``."""
        return {name: self.model.score(presence) for name, presence in self.presences.items()}

    @property
    def agreement(self) -> Agreement | None:
        """How alike the judges are; None where fewer than two rated."""
        if self.observations is None or len(self.observations.ratings) < 2:
            return None
        return judge_agreement(self.observations)

    @property
    def by_continent(self) -> pd.DataFrame:
        """Localizability by continent; empty where nothing tells a continent."""
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


def report_numbers(material: Material) -> dict[str, Any]:
    """All numbers of the report as plain data; what does not exist is None."""
    model, pairs = material.model, material.agreement
    positive, negative = model.top()
    scores = material.scores
    return {
        "alpha": model.alpha,
        "gamma_km": model.gamma_km,
        "theta": model.theta,
        "n_positive": len(model.positive),
        "n_negative": len(model.negative),
        "top_positive": [{"class": name, "slope": slope} for name, slope in positive],
        "top_negative": [{"class": name, "slope": slope} for name, slope in negative],
        "agreement": None if pairs is None else _records(pairs.to_frame()),
        "by_continent": _records(material.by_continent),
        "n_scored": len(scores),
        "n_localizable": sum(map(model.is_localizable, scores.values())),
        "scores": scores,
        "provenance": dict(model.provenance),
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def report_page(material: Material, title: str = "Audio Localizability") -> str:
    """The report as one HTML page with what there is to show."""
    check("plotly")
    from agl1k_core.localizability import figures as localizability_figures

    model, pairs = material.model, material.agreement
    parts = [f"<h1>{html.escape(title)}</h1>", _about(material)]
    script: bool = True

    def section(heading: str, figure: Any, text: str) -> None:
        nonlocal script
        drawn = figure.to_html(full_html=False, include_plotlyjs=script)
        parts.append(f'<h2>{heading}</h2><p>{text}</p><div class="wide">{drawn}</div>')
        script = False

    section(
        "Top categories",
        localizability_figures.top_categories_figure(model),
        "Slopes of the categories that count most for and against a place (the paper's Figure 3).",
    )
    if material.presences:
        section(
            "Examples",
            localizability_figures.examples_figure(model, material.examples),
            "What makes up the localizability of recordings, from the lowest to the highest of "
            "all (Figure 4).",
        )
    if pairs is not None:
        section(
            "Agreement between judges",
            localizability_figures.agreement_figure(pairs),
            "Cosine of the contributions per recording, correlation of the categories' totals, "
            "overlap of the ten highest (Figure 10).",
        )
        parts.append(_table(pairs.to_frame()))
    if len(table := material.by_continent):
        figure = localizability_figures.continents_figure(
            material.scores, material.continents, model.theta
        )
        section("By continent", figure, "Localizability of the recordings (Figure 11).")
        parts.append(_table(table))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _about(material: Material) -> str:
    told = html.escape(". ".join(about_lines(material)))
    return f"<p>{told}.</p>"


def about_lines(material: Material) -> list[str]:
    """The model and what it says of the recordings, in sentences without their full stops."""
    model, scores = material.model, material.scores
    about = model.provenance
    tagger, judges = about.get("tagger") or {}, about.get("judges") or []
    lines = [
        f"Fitted to {about.get('n_recordings', 'unknown')} recordings, "
        f"{about.get('n_near', 'unknown')} with an error below {model.gamma_km:g} km and "
        f"{about.get('n_far', 'unknown')} with a larger one; "
        f"tagger: {tagger.get('name') or 'unknown'}; judges: {', '.join(judges) or 'none'}",
        f"{len(model.positive)} positive and {len(model.negative)} negative categories, "
        f"slope above {model.alpha:.4g}",
    ]
    if scores:
        n_localizable = sum(map(model.is_localizable, scores.values()))
        lines.append(
            f"{n_localizable} of {len(scores)} recordings are localizable, above {model.theta:g}"
        )
    return lines


def _table(frame: pd.DataFrame) -> str:
    shown = frame.to_html(index=False, border=0, float_format="{:.2f}".format, na_rep="–")
    return f'<div class="wide">{shown}</div>'


def category_rows(model: Localizability) -> list[tuple[str, str, float, int]]:
    """(side, class, slope, recordings behind it) of the top categories, positive first."""
    place = {name: n for n, name in enumerate(model.categories)}
    sides = (("positive", model.positive, model.n_near), ("negative", model.negative, model.n_far))
    return [
        (side, tagging.class_name(name), slope, int(counts[place[name]]))
        for side, slopes, counts in sides
        for name, slope in [*slopes.items()][:10]
    ]
