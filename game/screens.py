"""What the play tab shows for a view of a round, as HTML: pure functions, no Gradio."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agl1k_core.benchmarks import Benchmark
from game import reveal as words
from game.credits import credits_of, is_credited
from game.guessing import points_at
from game.sound_words import localizability_in_words
from game.views import Reveal, RoundView, Streak, Summary, clip_address
from ui.names import isolated

_pages = Environment(
    loader=PackageLoader("game"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    auto_reload=False,
)
_pages.filters["distance"] = words.distance_in_words
_pages.filters["points"] = points_at
_pages.filters["streak"] = words.streak_in_words
_pages.filters["localizability"] = localizability_in_words
_pages.filters["clip_address"] = clip_address
_pages.tests["credited"] = is_credited


def compile_templates() -> None:
    """Compile what a player sees in the first minutes, so that nobody waits for it."""
    for name in _pages.list_templates():
        _pages.get_template(name)


MODE_NAMES = {
    "free": "Free play",
    "daily": "Daily five",
    "challenge": "Challenge",
    "model": "Against a model",
    "room": "Room",
}


def stage_html(**parts: object) -> str:
    """The elements of the play tab; ``parts`` are what templates/stage.html names."""
    return _pages.get_template("stage.html").render(parts)


class _Step(NamedTuple):
    """A clip of a round; templates read attributes faster than keys."""

    number: int
    now: bool = False
    points: str = ""


def status_html(view: RoundView) -> str:
    """The state of the round, above the map."""
    answered = {reveal.position: reveal for reveal in view.reveals}
    steps = [
        _Step(
            position + 1,
            now=position == view.position and view.phase != "finished",
            points=_step_words(answered[position]) if position in answered else "",
        )
        for position in range(view.n_clips)
    ]
    return _pages.get_template("status.html").render(
        view=view,
        mode=mode_name(view),
        steps=steps,
        filters=filter_words(view.filters),
        versus=Markup(versus_html(view) if view.phase == "playing" else ""),
    )


def _step_words(reveal: Reveal) -> str:
    """Points of an answered clip; a broken one has none."""
    return "–" if reveal.action == "broken" else f"{reveal.points:,}"


def waiting_html(benchmark_name: str, notice: str, n_in_play: int, n_clips: int) -> str:
    """The status while a free round is loading, as high as the one that replaces it.

    ``n_in_play`` is the number of clips of the benchmark, ``n_clips`` that of the round.
    """
    steps = [_Step(number) for number in range(1, n_clips + 1)]
    view = {
        "benchmark_name": benchmark_name, "notice": notice, "n_in_play": n_in_play, "total": 0
    }  # fmt: skip
    return _pages.get_template("status.html").render(
        view={**view, "timer_s": None, "challenger": None},
        mode=MODE_NAMES["free"],
        steps=steps,
        filters="",
        versus="",
    )


def streak_html(streak: Streak) -> str:
    """The streak of dailies, and which days count."""
    return _pages.get_template("streak.html").render(streak=streak)


def mode_name(view: RoundView | Summary) -> str:
    """ "Daily five of 2026-11-28", "Challenge", "Free play", "Against gemini-3"."""
    name = MODE_NAMES[view.mode]
    if view.mode == "model" and view.versus and view.versus.name:
        return f"Against {isolated(view.versus.name)}"
    if view.mode == "room":
        return f"{name} {view.label}"
    return f"{name} of {view.label} (UTC)" if view.mode == "daily" else name


def filter_words(filters: Mapping[str, str]) -> str:
    """The filters of a round in words; empty if there are none."""
    speech = {"speech": "with speech", "non_speech": "without speech"}.get(filters["speech"], "")
    return ", ".join(part for part in (speech, filters["continent"]) if part)


@cache
def help_html() -> str:
    """What to do while a clip plays."""
    return _pages.get_template("help.html").render()


def result_html(view: RoundView) -> str:
    """What to do, the outcome of a clip, or the whole round."""
    if view.summary is not None:
        return versus_html(view) + summary_html(view.summary)
    return versus_html(view) + reveal_html(view.reveal) if view.reveal is not None else help_html()


def versus_html(view: RoundView) -> str:
    """How the round stands against its opponent; empty without one."""
    if view.versus is None:
        return ""
    sentence = words.versus_in_words(view)
    return _pages.get_template("standing.html").render(view=view, sentence=sentence)


def reveal_html(reveal: Reveal) -> str:
    """The outcome of one clip."""
    return _pages.get_template("reveal.html").render(
        reveal=reveal,
        models=sorted(reveal.models, key=lambda model: model.distance_km),
        sentence=words.outcome_in_words(reveal),
    )


def summary_html(summary: Summary) -> str:
    """The whole round: its clips, the total, the challenger and the streak."""
    return _pages.get_template("summary.html").render(summary=summary, mode=mode_name(summary))


def credits_html(benchmarks: Iterable[Benchmark]) -> str:
    """Whose recordings the benchmarks are, without saying which clip is whose."""
    parts = [(one.name, one.notice, credits_of(one)) for one in benchmarks]
    return _pages.get_template("credits.html").render(benchmarks=parts)


def api_html(document: Mapping[str, Any]) -> str:
    """An OpenAPI document as a page for people."""
    return _pages.get_template("api.html").render(api=document)


def message_html(text: str, *, is_error: bool = True) -> str:
    """A message for the player; empty text gives an empty string."""
    if not text:
        return ""
    return _pages.get_template("message.html").render(text=text, is_error=is_error)
