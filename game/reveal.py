"""What a player sees once a guess is stored: the true place, distance and points, in words.

Nothing here may be built before the guess for that clip is stored. A clip that was reported as
broken has no place: the report would otherwise be a way to look it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agl1k_core.benchmarks import Benchmark, Clip, FolderTags
from agl1k_core.places import compass_direction, geodesic_line
from game.credits import credit_of
from game.guessing import MAX_POINTS, max_points_of, points_of
from game.refusals import ConflictError
from game.sound_words import localizability_in_words, sounds_in_words, sounds_of
from game.views import Credit, Reveal, RoundView, Sounds, Streak, Summary
from store.guesses import Guess
from ui.model_guess import ModelGuess
from ui.names import isolated


def build_reveals(
    benchmark: Benchmark,
    guesses: Sequence[Guess],
    clip_tokens: Sequence[str],
    models: Mapping[str, Sequence[ModelGuess]],
    tags: FolderTags | None = None,
    *,
    n_drawn: int | None = None,
) -> tuple[Reveal, ...]:
    """One ``Reveal`` per stored guess, in order of position. ``models``: their guesses by key.

    The last ``n_drawn``, by default all, have a line for the map. Raises ``ConflictError`` if the
    benchmark no longer has one of the clips.
    """
    reveals: list[Reveal] = []
    total = max_total = 0
    first_drawn = 0 if n_drawn is None else len(guesses) - n_drawn
    for number, guess in enumerate(guesses):
        total, max_total = total + points_of(guess), max_total + max_points_of(guess)
        clip = _clip_of(benchmark, guess)
        guessed = tuple(models.get(clip.key, ()))
        token = clip_tokens[guess.position]
        sounds = sounds_of(clip, tags or FolderTags())
        made = _reveal(benchmark, clip, guess, total, max_total, guessed, token, sounds)
        drawn = replace(made, line=_line(clip, guess)) if number >= first_drawn else made
        reveals.append(_without_place(drawn) if guess.action == "broken" else drawn)
    return tuple(reveals)


def _clip_of(benchmark: Benchmark, guess: Guess) -> Clip:
    if guess.clip_key not in benchmark:
        raise ConflictError(
            f"{benchmark.name} has changed since this round: one of its clips is gone. "
            "Start a new round."
        )
    return benchmark.clip(guess.clip_key)


def _reveal(
    benchmark: Benchmark,
    clip: Clip,
    guess: Guess,
    total: int,
    max_total: int,
    models: tuple[ModelGuess, ...],
    clip_token: str,
    sounds: Sounds,
) -> Reveal:
    pin = _pin_of(guess)
    return Reveal(
        position=guess.position,
        action=str(guess.action),
        key=clip.key,
        title=clip.title if benchmark.shows_titles else "",
        label=place_label(clip),
        lat=clip.lat,
        lon=clip.lon,
        pin_lat=guess.latitude,
        pin_lon=guess.longitude,
        distance_km=guess.distance_km,
        direction=compass_direction(*pin, clip.lat, clip.lon) if pin else "",
        points=points_of(guess),
        max_points=max_points_of(guess),
        total=total,
        max_total=max_total,
        seconds=guess.seconds,
        line=(),
        models=models,
        clip_token=clip_token,
        sounds=sounds,
        label_note=benchmark.label_note(clip.key),
        credit=credit_of(clip),
    )


def _without_place(reveal: Reveal) -> Reveal:
    """The outcome alone: nothing that tells, or helps to look up, where a clip was recorded."""
    return replace(
        reveal,
        key="",
        title="",
        label="",
        lat=None,
        lon=None,
        models=(),
        sounds=Sounds(),
        label_note="",
        credit=Credit(),
    )


def _pin_of(guess: Guess) -> tuple[float, float] | None:
    if guess.action != "guess" or guess.latitude is None or guess.longitude is None:
        return None
    return guess.latitude, guess.longitude


def _line(clip: Clip, guess: Guess) -> tuple[tuple[float, float], ...]:
    pin = _pin_of(guess)
    return tuple(geodesic_line(*pin, clip.lat, clip.lon)) if pin else ()


def place_label(clip: Clip) -> str:
    """City and country as far as they are known, or else the coordinates."""
    names = [name for name in (clip.city, clip.country) if name]
    return ", ".join(names) or point_in_words(clip.lat, clip.lon)


def point_in_words(lat: float, lon: float) -> str:
    """Like 31.51° N, 9.77° W."""
    north, east = "N" if lat >= 0 else "S", "E" if lon >= 0 else "W"
    return f"{abs(lat):.2f}° {north}, {abs(lon):.2f}° {east}"


def distance_in_words(distance_km: float) -> str:
    """Like 1,234 km; below 1 km: <1 km."""
    return "<1 km" if distance_km < 1.0 else f"{distance_km:,.0f} km"


def streak_in_words(streak: Streak) -> str:
    """Like: Streak: 3 days. Play today's five to keep it."""
    if streak.days == 0:
        return "No streak yet. Play today's five to begin one."
    days = f"Streak: {streak.days} day{'' if streak.days == 1 else 's'}."
    return days if streak.played_today else f"{days} Play today's five to keep it."


def outcome_in_words(reveal: Reveal) -> str:
    """The outcome of a clip in sentences, for people who do not see the map."""
    place = f"The sound was recorded in {reveal.label}." if reveal.label else ""
    total = f"Total so far: {reveal.total:,} of {reveal.max_total:,}."
    sounds = sounds_in_words(reveal.sounds), localizability_in_words(reveal.sounds)
    return " ".join(part for part in (place, _guess_in_words(reveal), total, *sounds) if part)


def _guess_in_words(reveal: Reveal) -> str:
    if reveal.action == "skip":
        return "You skipped it: 0 points."
    if reveal.action == "broken":
        return "You reported the clip as broken, so it does not count and its place is not shown."
    if reveal.action == "timeout":
        return "The time ran out: 0 points."
    if reveal.distance_km is None:
        return f"{reveal.points:,} of {reveal.max_points:,} points."
    distance = distance_in_words(reveal.distance_km)
    if reveal.distance_km < 1.0:
        distance += " from your pin"
    elif reveal.direction:
        distance += f" {reveal.direction} of your pin"
    return f"That is {distance}: {reveal.points:,} of {reveal.max_points:,} points."


def versus_in_words(view: RoundView) -> str:
    """How the opponent stands, in sentences; empty without one."""
    versus = view.versus
    if versus is None or versus.total is None:
        return versus.note if versus else ""
    if not versus.points:
        return "You both answer the same clips. Its points show after yours."
    lead = view.total - versus.total
    ahead = f"You are {abs(lead):,} {'ahead' if lead > 0 else 'behind'}." if lead else "A draw."
    if view.phase != "revealed":
        return ahead
    last = versus.points[-1]
    clip = "This clip counts for neither" if last is None else f"This clip brought it {last:,}"
    return f"{clip}. {ahead}"


def share_text(summary: Summary, page_url: str = "") -> str:
    """Text to paste anywhere: the points of each clip as squares and numbers, without places.

    ``page_url`` is the address of the game; without it the last line is only the code.
    """
    title = {
        "daily": f"daily five of {summary.label}",
        "challenge": "challenge",
        "model": "against a model",
        "room": "room",
    }.get(summary.mode, "free play")
    name = summary.benchmark_name
    lines = [f"{name if name.startswith('AGL1K') else f'AGL1K – {name}'}, {title}"]
    lines += [_share_line(reveal) for reveal in summary.reveals]
    lines.append(f"{summary.total:,} of {summary.max_total:,} points")
    if summary.challenger is not None:
        rival = summary.challenger
        lines.append(f"{isolated(rival.nickname) or 'My challenger'}: {rival.total:,} points")
    lines += _versus_lines(summary)
    link = f"{page_url.split('?')[0].split('#')[0]}?challenge={summary.code}"
    return "\n".join([*lines, link if page_url else f"Challenge code: {summary.code}"])


def _versus_lines(summary: Summary) -> list[str]:
    versus = summary.versus
    if versus is None or versus.total is None:
        return []
    return [f"Me {summary.total:,} · {isolated(versus.name)} {versus.total:,}"]


def _share_line(reveal: Reveal) -> str:
    """Five squares: green from 3,750 points on, yellow from 1,250 on, else red."""
    share = reveal.points / MAX_POINTS
    filled = round(5 * share)
    colour = "🟩" if share >= 0.75 else "🟨" if share >= 0.25 else "🟥"
    outcome = {"skip": "skipped", "broken": "broken clip", "timeout": "out of time"}
    words = outcome.get(reveal.action, f"{reveal.points:,}")
    return f"{colour * filled}{'⬜' * (5 - filled)} {words}"
