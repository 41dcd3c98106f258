"""The rules by which predictions are scored, as data.

Protocols
---------
* ``strict``: the board's own. Every clip of the benchmark counts.
* ``paper``: reproduces the published numbers of Zhang et al. 2026.
* ``people``: ``strict`` for guesses; many players share a clip, and nobody guesses all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agl1k_core.errors import Agl1kError

THRESHOLDS_KM = (1, 10, 25, 100, 500, 1000)


@dataclass(frozen=True, slots=True)
class Protocol:
    """What counts, what is a refusal, and over which records each mean is taken.

    Parameters
    ----------
    name
        The name that `evaluate` and the command line accept.
    summary
        One sentence for people.
    every_clip
        Clips without a record count too, as *missing*.
    repeated_clips
        A clip may have several records.
    refused_by_status
        A record is a refusal if its status is *refused*. Otherwise the values decide, as given in
        the file and as the script behind the published numbers reads them: any of the five
        fields that is null or one of ``refusal_words`` makes the record a refusal, and a
        coordinate makes it count as 10,000 km; only plain numbers are coordinates, longitudes
        wrap.
    refusal_words
        The words, in lower case. Coordinates are compared as pandas writes them: the number -1 is
        the word "-1.0" in a column that has decimals.
    no_point_counts
        A record without a usable point counts as 10,000 km. Otherwise it is left out of the
        means of distances.
    only_labelled
        Label accuracy is over the records for which both prediction and truth have the label;
        an empty city counts as one, an empty country or continent does not.
    thresholds_over_records_km
        The shares within these distances are over all records, even if the means of distances
        leave some out.

    Examples
    --------
    The published rules, except that a clip without a record counts:

    >>> from dataclasses import replace
    >>> import agl1k_core as ag
    >>> replace(ag.PAPER, name="paper, every clip", every_clip=True).only_labelled
    True
    """

    name: str
    summary: str
    every_clip: bool = True
    repeated_clips: bool = False
    refused_by_status: bool = True
    refusal_words: frozenset[str] = frozenset()
    no_point_counts: bool = True
    only_labelled: bool = False
    thresholds_over_records_km: frozenset[int] = frozenset(THRESHOLDS_KM)


#: The board's protocol: every clip counts.
STRICT = Protocol(
    name="strict",
    summary="Every clip counts, whatever its status; without a usable point it is 10,000 km.",
)

#: The protocol of the published numbers (Zhang et al. 2026, "The Sonar Moment").
PAPER = Protocol(
    name="paper",
    summary="As published: only clips in the file; null, 0, -1 and words are refusals.",
    every_clip=False,
    refused_by_status=False,
    refusal_words=frozenset(
        {"", "0", "0.0", "-1", "null", "none", "n/a", "na", "unknown", "unable", "cannot"}
    ),
    no_point_counts=False,
    only_labelled=True,
    # the published <500 column is over all records, the other shares are not
    thresholds_over_records_km=frozenset({500}),
)

#: The protocol for players' guesses.
PEOPLE = Protocol(
    name="people",
    summary="Every guess counts; a skipped clip is a refusal of 10,000 km.",
    every_clip=False,
    repeated_clips=True,
)

#: Name -> protocol.
PROTOCOLS: Mapping[str, Protocol] = {p.name: p for p in (STRICT, PAPER, PEOPLE)}


def protocol_of(protocol: Protocol | str) -> Protocol:
    """A protocol, or the one with this name; raises ``Agl1kError`` if there is none."""
    if isinstance(protocol, Protocol):
        return protocol
    if protocol not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise Agl1kError(f"There is no protocol {protocol!r}. Choose one of {known}.")
    return PROTOCOLS[protocol]
