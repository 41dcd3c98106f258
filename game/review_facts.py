"""What the review page says about a clip, and what a model answered, as HTML and for the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from agl1k_core import places, tagging
from agl1k_core.answers import Status
from agl1k_core.benchmarks import Clip, ClipTags
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import metric_text
from game.reveal import place_label, point_in_words

_TOP = 8
_WITHOUT_A_POINT = {
    Status.REFUSED: "It declined to name a place.",
    Status.UNPARSEABLE: "Its answer could not be understood.",
    Status.ERROR: "The file has an error in place of an answer.",
}


@dataclass(frozen=True)
class ModelAnswer:
    """A model's answer on a clip, and how far it is from the true place.

    Attributes
    ----------
    model
        The name of its file.
    status
        A sentence if it has no point; else empty.
    point
        Latitude and longitude in degrees.
    distance_km, points
        Distance from the true place in km, and the geoscore; None without a point.
    city, country, continent, reason
        As the model gave them; empty if it did not.
    """

    model: str
    status: str = ""
    point: tuple[float, float] | None = None
    distance_km: float | None = None
    points: float | None = None
    city: str = ""
    country: str = ""
    continent: str = ""
    reason: str = ""


def answer_on(clip: Clip, predictions: Predictions) -> ModelAnswer:
    """A model's answer on a clip."""
    rows = [row for row, key in enumerate(predictions.keys) if key == clip.key]
    model = predictions.source
    if not rows:
        return ModelAnswer(model, "The file has no answer for this clip.")
    row = rows[0]
    status = predictions.status[row]
    answer = ModelAnswer(
        model,
        city=str(predictions.city[row]),
        country=str(predictions.country[row]),
        continent=str(predictions.continent[row]),
        reason=str(predictions.reason[row]),
    )
    if status != Status.ANSWERED:
        return replace(answer, status=_WITHOUT_A_POINT.get(Status(status), str(status)))
    lat, lon = float(predictions.lat[row]), float(predictions.lon[row])
    km = places.pair_km(clip.lat, clip.lon, lat, lon)
    points = float(places.geoscore(km))
    return replace(answer, point=(lat, lon), distance_km=km, points=points)


def facts_html(clip: Clip, tags: ClipTags, answer: ModelAnswer | None) -> Markup:
    """Everything about a clip; with an answer, that beside the truth."""
    lines = [clip.description] if clip.description else []
    if answer is None:
        lines.append(f"{place_label(clip)} ({clip.lat:.4f}, {clip.lon:.4f})")
    lines.append(f"Key {clip.key}")
    if clip.duration_s is not None:
        lines.append(f"{clip.duration_s:.1f} s, {'speech' if clip.has('human') else 'no speech'}")
    if tags.localizability is not None:
        lines.append(f"Localizability {tags.localizability:.2f}")
    paragraphs = Markup("").join(Markup("<p>{}</p>").format(line) for line in lines)
    return Markup('<section class="agl-reveal"><h2>{}</h2>{}{}{}</section>').format(
        clip.title or clip.key, answer_html(clip, answer), paragraphs, _sounds(tags.presence)
    )


def answer_html(clip: Clip, answer: ModelAnswer | None) -> Markup:
    """The truth and the model's answer side by side."""
    if answer is None:
        return Markup("")
    point = point_in_words(*answer.point) if answer.point else ""
    pairs = [
        ("Point", point_in_words(clip.lat, clip.lon), point),
        ("City", clip.city, answer.city),
        ("Country", clip.country, answer.country),
        ("Continent", clip.continent, answer.continent),
    ]
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td>{}</td><td>{}</td></tr>').format(
            name, truth or "–", said or "–"
        )
        for name, truth, said in pairs
    )
    table = Markup(
        '<table class="agl-models agl-beside"><caption>The truth, and the answer in {}</caption>'
        '<thead><tr><td></td><th scope="col">Truth</th><th scope="col">Answer</th></tr></thead>'
        "<tbody>{}</tbody></table>"
    ).format(answer.model, rows)
    return table + _outcome(answer) + _reason(answer)


def _outcome(answer: ModelAnswer) -> Markup:
    text = answer.status
    if answer.distance_km is not None:
        text = f"{distance_of(answer)} apart: {answer.points:,.0f} of 5,000 points."
    return Markup("<p><strong>{}</strong></p>").format(text)


def distance_of(answer: ModelAnswer) -> str:
    """The distance as the leaderboard shows it."""
    assert answer.distance_km is not None
    return f"{metric_text('distance_km', answer.distance_km)} km"


def _reason(answer: ModelAnswer) -> Markup:
    if not answer.reason:
        return Markup("")
    return Markup(
        '<details class="agl-reason" open><summary>Its reasoning</summary><p>{}</p></details>'
    ).format(answer.reason)


def _sounds(presence: Mapping[str, float]) -> Markup:
    """The classes with the largest shares of time, as a table."""
    if not presence:
        return Markup('<p class="agl-muted">No tags are known.</p>')
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td>{:.0f} %</td></tr>').format(
            tagging.class_name(class_id), 100 * share
        )
        for class_id, share in [*presence.items()][:_TOP]
    )
    return Markup(
        '<table class="agl-models"><caption>Sounds, and their shares of the time</caption>'
        '<thead><tr><th scope="col">Class</th><th scope="col">Time</th></tr></thead>'
        "<tbody>{}</tbody></table>"
    ).format(rows)
