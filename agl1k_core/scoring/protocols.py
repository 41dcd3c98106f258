"""How a prediction counts: the named protocols, as data.

``strict`` is the board's own, ``paper`` reproduces the published numbers of Zhang et al. 2026,
``people`` is strict for guesses, where many players share a clip and none guesses all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

THRESHOLDS_KM = (1, 10, 25, 100, 500, 1000)


@dataclass(frozen=True, slots=True)
class Protocol:
    """What counts, what is refused, and over which records each mean is taken.

    every_clip: clips without a record count too, as *missing*.
    repeated_clips: a clip may have several records.
    refused_by_status: the status *refused* is the refusal; otherwise the two fields below decide,
        from the values as given.
    refused_coordinates: a coordinate given as one of these numbers is a refusal.
    refusal_words: a field given as one of these, in lower case, is a refusal; in a coordinate it
        also makes the clip count as 10,000 km.
    no_point_counts: a record without a usable point counts as 10,000 km; otherwise it drops out of
        the distance means.
    only_labelled: label accuracy is over records where prediction and truth both have the label.
    thresholds_over_records_km: shares within these are over all records even where records drop
        out of the distance means.
    """

    name: str
    summary: str
    every_clip: bool = True
    repeated_clips: bool = False
    refused_by_status: bool = True
    refused_coordinates: frozenset[float] = frozenset()
    refusal_words: frozenset[str] = frozenset()
    no_point_counts: bool = True
    only_labelled: bool = False
    thresholds_over_records_km: frozenset[int] = frozenset(THRESHOLDS_KM)


STRICT = Protocol(
    name="strict",
    summary="Every clip counts, whatever its status; without a usable point it is 10,000 km.",
)

PAPER = Protocol(
    name="paper",
    summary="As published: only clips in the file, coordinates of 0 or -1 are refusals.",
    every_clip=False,
    refused_by_status=False,
    refused_coordinates=frozenset({0.0, -1.0}),
    refusal_words=frozenset({"unknown"}),
    no_point_counts=False,
    only_labelled=True,
    # the published <500 column is over all records, the other shares are not
    thresholds_over_records_km=frozenset({500}),
)

PEOPLE = Protocol(
    name="people",
    summary="Every guess counts; a skipped clip is a refusal of 10,000 km.",
    every_clip=False,
    repeated_clips=True,
)

PROTOCOLS: Mapping[str, Protocol] = {p.name: p for p in (STRICT, PAPER, PEOPLE)}
