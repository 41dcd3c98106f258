"""The 527 sound classes of AudioSet: ids, names, and their roots in the ontology.

Classes, their order and their roots are those of AudioSet and its ontology (Gemmeke et al. 2017,
"Audio Set: An ontology and human-labeled dataset for audio events"). The seven roots have this
project's names. Some classes have two roots: a church bell is a thing and an instrument. The first
root is then the one under which people look for it when they ask where a sound was recorded.
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
    """A class of AudioSet.

    Attributes
    ----------
    index
        Its position among the 527 classes, from 0.
    id, name
        Its id, such as ``/m/09x0r``, and its name, such as ``Speech``.
    roots
        One or two of ``AUDIOSET_ROOTS``.
    """

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
    """All classes by AudioSet id, in AudioSet's order.

    Examples
    --------
    >>> len(audioset_classes())
    527
    >>> audioset_classes()["/m/09x0r"]
    SoundClass(index=0, id='/m/09x0r', name='Speech', roots=('human',))
    """
    table = resources.files("agl1k_core.tagging") / "data" / "audioset_classes.csv"
    rows = csv.DictReader(table.read_text("utf-8").splitlines())
    return {row["id"]: _class_of(row) for row in rows}


def _class_of(row: Mapping[str, str]) -> SoundClass:
    roots = tuple(root for root in (row["root"], row["other_root"]) if root)
    return SoundClass(int(row["index"]), row["id"], row["name"], roots)


@cache
def class_ids_by_name() -> Mapping[str, str]:
    """AudioSet ids by the name of the class.

    Examples
    --------
    >>> class_ids_by_name()["Rain"]
    '/m/06mb1'
    """
    return {sound_class.name: class_id for class_id, sound_class in audioset_classes().items()}


def class_name(class_id: str) -> str:
    """The name of a class; the id itself if AudioSet has no such class.

    Examples
    --------
    >>> class_name("/m/06mb1")
    'Rain'
    """
    sound_class = audioset_classes().get(class_id)
    return sound_class.name if sound_class else class_id


def class_roots(class_id: str) -> tuple[str, ...]:
    """The root categories of a class; empty for an unknown id.

    Examples
    --------
    >>> class_roots(class_ids_by_name()["Church bell"])
    ('things', 'music')
    """
    sound_class = audioset_classes().get(class_id)
    return sound_class.roots if sound_class else ()
