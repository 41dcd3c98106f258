"""The 527 sound classes of AudioSet: ids, names, and the root of the ontology they hang from.

Classes, their order and their roots are those of AudioSet and its ontology (Gemmeke et al. 2017,
"Audio Set: An ontology and human-labeled dataset for audio events"). The seven roots carry this
project's names. Some classes hang from two roots: a church bell is a thing and an instrument. The
first root then is the one under which people look for it when they ask where a sound was made.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

AUDIOSET_ROOTS = ("human", "animal", "music", "nature", "things", "ambiguous", "background")


@dataclass(frozen=True, slots=True)
class SoundClass:
    """One class. ``index`` is its place among the 527; ``roots`` has the first root first."""

    index: int
    id: str
    name: str
    roots: tuple[str, ...]

    @property
    def root(self) -> str:
        """The first root."""
        return self.roots[0]


@cache
def audioset_classes() -> Mapping[str, SoundClass]:
    """AudioSet id -> class, in AudioSet's order."""
    table = resources.files("agl1k_core.tagging") / "data" / "audioset_classes.csv"
    rows = csv.DictReader(table.read_text("utf-8").splitlines())
    return {row["id"]: _class_of(row) for row in rows}


def _class_of(row: Mapping[str, str]) -> SoundClass:
    roots = tuple(root for root in (row["root"], row["other_root"]) if root)
    return SoundClass(int(row["index"]), row["id"], row["name"], roots)


@cache
def class_ids_by_name() -> Mapping[str, str]:
    """Class name -> AudioSet id."""
    return {sound_class.name: class_id for class_id, sound_class in audioset_classes().items()}


def class_name(class_id: str) -> str:
    """The class's name; the id itself where AudioSet has no such class."""
    sound_class = audioset_classes().get(class_id)
    return sound_class.name if sound_class else class_id


def class_roots(class_id: str) -> tuple[str, ...]:
    """The roots that a class hangs from, the first first; none for an unknown id."""
    sound_class = audioset_classes().get(class_id)
    return sound_class.roots if sound_class else ()
