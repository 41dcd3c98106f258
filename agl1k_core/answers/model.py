"""One answer: what became of it, the point, and the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """What became of a clip.

    ``answered`` has a usable point; ``refused`` says in words or fields that it will not or cannot
    tell; ``unparseable`` is an answer without a usable point, whose place names still count;
    ``error`` is no answer from the model at all; ``missing`` is no record for the clip.
    """

    ANSWERED = "answered"
    REFUSED = "refused"
    UNPARSEABLE = "unparseable"
    ERROR = "error"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; degrees; None for what is absent. ``given`` holds the fields as found."""

    status: Status
    latitude: float | None = None
    longitude: float | None = None
    city: str | None = None
    country: str | None = None
    continent: str | None = None
    reason: str | None = None
    given: Mapping[str, object] = field(default_factory=dict)


LABELS = ("city", "country", "continent")
#: The fields of an answer that place it; protocols may judge them as found.
GIVEN = ("latitude", "longitude", *LABELS)
