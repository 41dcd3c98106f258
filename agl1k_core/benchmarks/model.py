"""A benchmark: clips whose place is known, with a name, a version and a content hash.

Conventions: latitude before longitude, degrees, WGS-84. A clip is identified by its ``key`` alone;
file names are not unique. Class values are the share of time, 0 to 1, in which a class is heard;
a class counts as present from ``PRESENT_FROM`` (Zhang et al. 2026, "The Sonar Moment",
section 3.4 and appendix A.4).
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agl1k_core import places
from agl1k_core.errors import Agl1kError

PRESENT_FROM = 0.1

#: The fewest clips of a sealed benchmark, and of any group of it whose means are told.
FEWEST_SEALED = 30

_RENAMED = "The country is named as in {}'s table; an answer of either name counts."

#: Sound classes of a clip: our names and the published table's columns.
CLASSES: Mapping[str, str] = {
    "human": "human_sounds",
    "animal": "animal",
    "music": "music",
    "nature": "natural_sounds",
    "channel": "channel",
    "environment": "environment_and_background",
    "things": "sounds_of_things",
    "ambiguous": "source_ambiguous_sounds",
}

#: The four classes with a subset of their own, each taken within the clips without speech.
SUBSET_CLASSES = ("animal", "music", "nature", "things")

#: The suffix of a recording's file name, which a key in a prediction file may end with.
_SUFFIX = re.compile(r"\.(?:mp3|m4a|ogg|opus|flac|wav|aac)$", re.IGNORECASE)

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
ObjectArray = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording and its truth.

    Attributes
    ----------
    key
        Identifies the clip.
    lat, lon
        Where it was recorded, in degrees; NaN in the public copy of a sealed benchmark.
    city, country, continent
        The place's labels as published, empty if there are none.
    file_name
        The recording's file name; not unique.
    duration_s
        The recording's duration in seconds, None if unknown.
    title, description
        What the recordist wrote.
    classes
        Share of time, 0 to 1, of classes of ``CLASSES``.
    author, licence, url
        Who made the recording, the licence under which it may be used, and where it was published.
    recorded
        When it was recorded, as in the table.
    short_key
        Another name by which predictions may call the clip, empty if there is none.

    Examples
    --------
    >>> clip = Clip("a_1", 48.86, 2.35, country="France", classes={"human": 0.8, "music": 0.05})
    >>> clip.has("human"), clip.has("music")
    (True, False)
    """

    key: str
    lat: float
    lon: float
    city: str = ""
    country: str = ""
    continent: str = ""
    file_name: str = ""
    duration_s: float | None = None
    title: str = ""
    description: str = ""
    classes: Mapping[str, float] = field(default_factory=dict)
    author: str = ""
    licence: str = ""
    url: str = ""
    recorded: str = ""
    short_key: str = ""

    def has(self, sound_class: str) -> bool:
        """Whether a class of ``CLASSES`` is heard for a share of at least ``PRESENT_FROM``."""
        return self.classes.get(sound_class, 0.0) >= PRESENT_FROM


@dataclass(frozen=True, slots=True)
class LabelCodes:
    """Labels as numbers.

    ``numbers``: canonical name -> its number; ``of_clips``: the number of each clip's label, -1
    if it has none, shape ``(n_clips,)``.
    """

    numbers: Mapping[str, int]
    of_clips: IntArray


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why no clip was made of a recording: it is broken, or no place is known."""

    detail: str
    is_broken: bool = False


@dataclass(frozen=True)
class Benchmark:
    """Clips with a known place, in the order of their table.

    Attributes
    ----------
    slug
        Names the benchmark in addresses, commands and the database.
    name, version
        Its name and version, for people.
    clips
        The clips.
    notice
        What players need to know about it.
    audio_dir
        The folder of its recordings (see ``find_recording``), None if there is none.
    audio_url
        Template, with ``{key}`` and ``{file_name}``, of the addresses of missing recordings.
    country_aliases
        ISO codes for which the benchmark's labels use another code, and that code.
    remarks
        Sentences on what was left out when its table was read.
    left_out
        Recordings in its folder of which no clip was made, by name, and why.
    out_of_play
        Clips that the game leaves out, by key, and the reason; they count on the board.
    shows_titles
        Whether the game shows the recordists' titles after a guess.
    sealed
        Whether the true places are a secret of the server that keeps the board.

    Examples
    --------
    >>> paris, suva = Clip("a", 48.86, 2.35, country="France"), Clip("b", -18.14, 178.44)
    >>> benchmark = Benchmark("mine", "My clips", "1", (paris, suva))
    >>> len(benchmark), "a" in benchmark, benchmark.clip("b").lat
    (2, True, -18.14)
    >>> benchmark.country_codes
    ('FR', '')
    >>> benchmark.lat.shape
    (2,)
    """

    slug: str
    name: str
    version: str
    clips: tuple[Clip, ...]
    notice: str = ""
    audio_dir: Path | None = None
    audio_url: str | None = None
    country_aliases: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)
    out_of_play: Mapping[str, str] = field(default_factory=dict)
    shows_titles: bool = False
    sealed: bool = False

    def __repr__(self) -> str:
        return f"<Benchmark {self.slug}: {len(self):,} clips>"

    def __len__(self) -> int:
        return len(self.clips)

    def __contains__(self, key: object) -> bool:
        return key in self.index

    def clip(self, key: str) -> Clip:
        """The clip with this key; raises ``KeyError``."""
        return self.clips[self.index[key]]

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position in ``clips`` of each key."""
        return {clip.key: position for position, clip in enumerate(self.clips)}

    @cached_property
    def in_play(self) -> tuple[str, ...]:
        """The keys of the clips that the game may use, in the table's order."""
        return tuple(key for key in self.index if key not in self.out_of_play)

    def resolve(self, key: str) -> str | None:
        """The key of the clip that a key in a prediction file means, or None.

        Composed and decomposed letters are the same, and so are capitals; an audio file's suffix
        may follow, and the table's ``short_key`` is another name. Names of several clips are none.

        Examples
        --------
        >>> benchmark = Benchmark("mine", "My clips", "1", (Clip("a_1", 0, 0, short_key="1"),))
        >>> benchmark.resolve("A_1.mp3"), benchmark.resolve("1"), benchmark.resolve("a_2")
        ('a_1', 'a_1', None)
        """
        if key in self.index:
            return key
        return self._names.get(plain_key(key)) or self._names.get(plain_key(_SUFFIX.sub("", key)))

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Plain name -> key, for names that mean one clip; keys come before short keys."""
        names: dict[str, str] = {}
        for kind in ("short_key", "key"):
            found: dict[str, str] = {}
            for clip in self.clips:
                name = plain_key(getattr(clip, kind))
                found[name] = "" if name in found else clip.key
            names |= found
        return {name: key for name, key in names.items() if name and key}

    @cached_property
    def file_name_counts(self) -> Mapping[str, int]:
        """How many clips have each casefolded file name."""
        return Counter(clip.file_name.casefold() for clip in self.clips)

    @cached_property
    def lat(self) -> FloatArray:
        """Latitudes in degrees, shape ``(n_clips,)``."""
        return np.array([clip.lat for clip in self.clips], dtype=np.float64)

    @cached_property
    def lon(self) -> FloatArray:
        """Longitudes in degrees, shape ``(n_clips,)``."""
        return np.array([clip.lon for clip in self.clips], dtype=np.float64)

    @cached_property
    def has_truth(self) -> bool:
        """Whether the true places are known; they are not in a public copy."""
        return not np.isnan(self.lat).any()

    def require_truth(self) -> None:
        """Raise ``Agl1kError`` if the true places are not known."""
        if not self.has_truth:
            raise Agl1kError(self.no_truth)

    @property
    def no_truth(self) -> str:
        """Where the true places are, and what to do, in one sentence."""
        return (
            f"{self.name} is sealed: its true places are with the server that keeps its board, "
            "to which 'agl1k submit' sends a prediction file."
        )

    @cached_property
    def country_codes(self) -> tuple[str, ...]:
        """ISO 3166-1 alpha-2 code of each clip's label; empty if the label names no country.

        A label may be such a code itself: ``NA`` is Namibia here, though never in an answer.
        """
        return tuple(
            self.canonical_country(clip.country) or _known_code(clip.country) for clip in self.clips
        )

    @cached_property
    def continents(self) -> tuple[str, ...]:
        """Continent of each clip: its label, or its country's continent if that is empty."""
        return tuple(
            places.canonical_continent(clip.continent) or places.continent_of(code) or ""
            for clip, code in zip(self.clips, self.country_codes, strict=True)
        )

    @cached_property
    def canonical_labels(self) -> Mapping[str, ObjectArray]:
        """The clips' labels by name, in a form in which equal places are equal texts."""
        countries = [
            code or places.fold(clip.country)
            for code, clip in zip(self.country_codes, self.clips, strict=True)
        ]
        cities = [places.canonical_city(clip.city) for clip in self.clips]
        labels = {"continent": self.continents, "country": countries, "city": cities}
        return {label: np.array(names, dtype=object) for label, names in labels.items()}

    @cached_property
    def label_codes(self) -> Mapping[str, LabelCodes]:
        """``canonical_labels`` as numbers, which are compared faster than texts."""
        return {name: _label_codes(labels) for name, labels in self.canonical_labels.items()}

    def canonical_country(self, name: str) -> str:
        """The code that this benchmark uses for a country name; empty if it is not a country's."""
        code = places.country_code(name)
        return self.country_aliases.get(code, code) if code else ""

    @cached_property
    def _renamed(self) -> frozenset[str]:
        """The clips in a country that the labels file under another one, such as Taiwan."""
        targets = set(self.country_aliases.values())
        clips = [
            c for c, code in zip(self.clips, self.country_codes, strict=True) if code in targets
        ]
        found = places.label_points([clip.lat for clip in clips], [clip.lon for clip in clips])
        names = {place.country: places.country_code(place.country) for place in found}
        return frozenset(
            clip.key
            for clip, place in zip(clips, found, strict=True)
            if names[place.country] in self.country_aliases
        )

    def label_note(self, key: str) -> str:
        """What to know about a clip's country label, in one sentence, or ""."""
        return _RENAMED.format(self.name) if key in self._renamed else ""

    @cached_property
    def subsets(self) -> Mapping[str, BoolArray]:
        """Masks over ``clips``: speech, non_speech, the four classes, each continent.

        The four classes are taken within non-speech, as in the paper's Table 2, so that our numbers
        of a subset can be compared with the published ones.
        """
        speech = self._present("human")
        masks = {"speech": speech, "non_speech": ~speech}
        masks |= {name: self._present(name) & ~speech for name in SUBSET_CLASSES}
        continents = np.array(self.continents, dtype=object)
        masks |= {name: continents == name for name in sorted({*self.continents} - {""})}
        return masks

    def _present(self, sound_class: str) -> BoolArray:
        return np.array([clip.has(sound_class) for clip in self.clips], dtype=np.bool_)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of what scoring depends on; the order and format of the table do not matter."""
        digest = hashlib.sha256()
        for clip in sorted(self.clips, key=lambda clip: clip.key):
            fields = (clip.key, clip.lat, clip.lon, clip.city, clip.country, clip.continent)
            classes = sorted(clip.classes.items())
            digest.update(json.dumps([*fields, classes], ensure_ascii=False).encode())
        return digest.hexdigest()


def plain_key(key: str) -> str:
    """A key without the differences that do not matter when people write it."""
    if key.isascii():
        return key.strip().casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", key.strip()).casefold())


def _label_codes(labels: ObjectArray) -> LabelCodes:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(labels)) if name}
    codes = np.fromiter(map(numbers.get, labels, repeat(-1)), dtype=np.int64, count=len(labels))
    return LabelCodes(numbers, codes)


def _known_code(label: str) -> str:
    return label if len(label) == 2 and places.country_name(label) else ""
