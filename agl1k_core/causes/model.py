"""What is sorted, into what, and the outcome: misses, causes and verdicts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

REFUSAL = "Refusal"

#: The seven causes of Zhang et al. 2026, "The Sonar Moment", section 4.5, in the order of its
#: appendix B, with what each means.
CAUSES: Mapping[str, str] = {
    "Bird Bias": "The calls of birds that live in some region led to the wrong country.",
    "Language Ambiguity": (
        "The language was recognized correctly, but it is spoken in several countries, and a "
        "wrong one of them was chosen."
    ),
    "Over-Commitment": (
        "The reasoning itself leaves several places open, and yet ends with one of them as if it "
        "were certain."
    ),
    "Over-Reasoning": (
        "The right place was found first and then given up because of further reasoning."
    ),
    "Label Misidentification": (
        "Something heard was taken for something else, most often one language for another."
    ),
    "Educated Guess": "The answer says that the clues do not suffice, and guesses.",
    REFUSAL: "The answer declines to name a place.",
}


@dataclass(frozen=True)
class Miss:
    """An answer whose country is wrong, or that is a refusal.

    Attributes
    ----------
    key
        The clip.
    true_country
        Where it was recorded.
    country
        The country that was named or, without a name, in which the point lies; empty for a refusal.
    point
        Latitude and longitude in degrees; None without a usable point.
    distance_km
        From the true place; None without a usable point.
    said
        The reasoning, or the whole raw answer where the file has it.
    is_refusal
        Whether it declines to name a place.
    """

    key: str
    true_country: str
    country: str = ""
    point: tuple[float, float] | None = None
    distance_km: float | None = None
    said: str = ""
    is_refusal: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the answer, so that a verdict on an earlier one is noticed."""
        about = [self.key, self.true_country, self.country, self.point, self.said]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Misses:
    """The misses of a prediction file, and what is none.

    Attributes
    ----------
    misses
        In the order of the file.
    n_records
        How many records it has.
    n_right
        How many of them have the right country.
    left_out
        How many could not be decided, by reason.
    """

    misses: tuple[Miss, ...]
    n_records: int
    n_right: int
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def to_judge(self) -> list[Miss]:
        """Those whose cause is not known from their status."""
        return [miss for miss in self.misses if not miss.is_refusal]

    def sample(self, n: int) -> Misses:
        """At most n of the misses, chosen by a hash of their keys: a larger n adds to a smaller."""
        chosen = sorted(self.misses, key=lambda miss: hashlib.sha256(miss.key.encode()).digest())
        keys = {miss.key for miss in chosen[:n]}
        return replace(self, misses=tuple(miss for miss in self.misses if miss.key in keys))


class Outcome(StrEnum):
    """How a judge's verdict on a miss came out.

    ``judged``: it has a cause. ``by status``: the answer is a refusal, so nobody was asked.
    ``unreadable``: the judge answered, but named no cause. ``failed``: the judge gave no answer.
    ``nothing said``: the miss has no reasoning, so that there is nothing to judge by.
    """

    JUDGED = "judged"
    BY_STATUS = "by status"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    NOTHING_SAID = "nothing said"


@dataclass(frozen=True)
class Verdict:
    """What a judge says about a miss.

    Attributes
    ----------
    key
        The clip.
    judge
        The judge's name.
    outcome
        See ``Outcome``.
    cause
        One of ``CAUSES``; empty unless judged or by status.
    answer
        The judge's raw answer, or a person's note.
    fingerprint
        That of the miss; empty if it is not known.
    """

    key: str
    judge: str
    outcome: Outcome
    cause: str = ""
    answer: str = ""
    fingerprint: str = ""
