"""The sounds in a clip and how much they reveal about its place, as shares and in words.

They come from the folder's tags; for a clip without tags, from the classes of the table. Like
everything in ``reveal``, they may not be shown before the guess for that clip is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agl1k_core import tagging
from agl1k_core.benchmarks import Clip, FolderTags
from game.views import Sounds

MOST = 5
#: Smaller shares of the time are left out.
_LEAST = 0.05
_TAGGERS = {"yamnet": "YAMNet", "efficientat": "EfficientAT"}
_CLASSES = {
    "human": "People",
    "animal": "Animals",
    "music": "Music",
    "nature": "Nature",
    "channel": "Noise of the recording",
    "environment": "Surroundings",
    "things": "Things",
    "ambiguous": "Sounds of unclear origin",
}
#: A sound with at least this share of the time is heard this often.
_HOW_OFTEN = {
    0.95: "all the time",
    0.5: "most of the time",
    0.2: "part of the time",
    0.0: "now and then",
}


def sounds_of(clip: Clip, tags: FolderTags) -> Sounds:
    """The ``MOST`` classes with the largest shares, and the clip's localizability."""
    found = tags.clips.get(clip.key)
    if found is None:
        return Sounds(_longest(clip.classes, _CLASSES.__getitem__))
    tagger = str(tags.tagger.get("name", ""))
    return Sounds(
        _longest(found.presence, tagging.class_name),
        _TAGGERS.get(tagger, tagger),
        found.localizability,
        tags.theta,
    )


def _longest(
    shares: Mapping[str, float], name_of: Callable[[str], str]
) -> tuple[tuple[str, float], ...]:
    long = [one for one in shares.items() if one[1] >= _LEAST]
    long.sort(key=lambda one: -one[1])
    return tuple((name_of(one), share) for one, share in long[:MOST])


def sounds_in_words(sounds: Sounds) -> str:
    """Like: Heard most of the time: Speech. Part of the time: Bird; Chirp, tweet."""
    groups: dict[str, list[str]] = {}
    for name, share in sounds.shares:
        how_often = next(words for least, words in _HOW_OFTEN.items() if share >= least)
        groups.setdefault(how_often, []).append(name)
    parts = [f"{how_often}: {'; '.join(names)}." for how_often, names in groups.items()]
    return " ".join(
        part[0].upper() + part[1:] if number else f"Heard {part}"
        for number, part in enumerate(parts)
    )


def localizability_in_words(sounds: Sounds) -> str:
    """What the score means, compared to its fitted threshold; "" without a score."""
    score, theta = sounds.localizability, sounds.theta
    if score is None:
        return ""
    if theta is None:
        return f"Localizability {score:.2f}: the higher, the more its sounds reveal the place."
    if score > theta:
        return f"Localizability {score:.2f}, above {theta:g}: its sounds reveal the place."
    effect = "mislead more than they help" if score < 0 else "say little about the place"
    return f"Localizability {score:.2f}, not above {theta:g}: its sounds {effect}."
