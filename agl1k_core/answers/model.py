"""One answer of a model: its status, the point and the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """The status of the answer for a clip.

    ``answered``: it has a usable point. ``refused``: it says, in words or fields, that the place
    cannot or will not be given. ``unparseable``: it has no usable point; its place names still
    count. ``error``: there is no answer from the model. ``missing``: there is no record for the
    clip.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> ag.parse_answer("Paris").status is ag.Status.UNPARSEABLE
    True
    >>> [str(status) for status in ag.Status]
    ['answered', 'refused', 'unparseable', 'error', 'missing']
    """

    ANSWERED = "answered"
    REFUSED = "refused"
    UNPARSEABLE = "unparseable"
    ERROR = "error"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a model.

    Attributes
    ----------
    status : Status
    latitude, longitude : float or None
        The point in degrees; None unless answered.
    city, country, continent, reason : str or None
        Texts as the model wrote them; None if absent.
    given : mapping of str to object
        The fields of the place as found, whatever their type.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> answer = ag.parse_answer({"lat": "48.86", "lng": 2.35, "country": "France"})
    >>> answer.latitude, answer.longitude, answer.country
    (48.86, 2.35, 'France')
    >>> answer.given["latitude"]
    '48.86'
    """

    status: Status
    latitude: float | None = None
    longitude: float | None = None
    city: str | None = None
    country: str | None = None
    continent: str | None = None
    reason: str | None = None
    given: Mapping[str, object] = field(default_factory=dict)


LABELS = ("city", "country", "continent")
#: The fields of a place; protocols may look at them as found.
GIVEN = ("latitude", "longitude", *LABELS)
