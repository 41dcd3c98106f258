"""Agreement between those who sort misses into causes.

Cohen 1960, "A coefficient of agreement for nominal scales"; Fleiss 1971, "Measuring nominal scale
agreement among many raters".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from agl1k_core.causes.model import Outcome, Verdict


@dataclass(frozen=True)
class PairAgreement:
    """How often two judges chose the same cause.

    Attributes
    ----------
    judge, other_judge
        Their names.
    n
        Misses that both judged.
    same
        The share of them with the same cause; NaN if n is 0.
    kappa
        Cohen's kappa: 1 for full agreement, 0 for as much as by chance; NaN if it is not defined,
        as when both chose a single cause.
    """

    judge: str
    other_judge: str
    n: int
    same: float
    kappa: float


@dataclass(frozen=True)
class JointAgreement:
    """Fleiss' kappa over the ``n`` misses that all judges judged; NaN if it is not defined."""

    n: int
    kappa: float


def by_judge(verdicts: Sequence[Verdict]) -> dict[str, dict[str, str]]:
    """Each judge's causes by clip, without those that nobody had to judge."""
    found: dict[str, dict[str, str]] = {}
    for verdict in verdicts:
        causes = found.setdefault(verdict.judge, {})
        if verdict.outcome == Outcome.JUDGED:
            causes[verdict.key] = verdict.cause
    return found


def pair_agreements(verdicts: Sequence[Verdict]) -> list[PairAgreement]:
    """Agreement of each pair of judges on the misses that both judged.

    Examples
    --------
    >>> chosen = {"one": ["Refusal", "Bird Bias"], "two": ["Refusal", "Educated Guess"]}
    >>> verdicts = [
    ...     Verdict(f"clip {n}", judge, Outcome.JUDGED, cause)
    ...     for judge, causes in chosen.items()
    ...     for n, cause in enumerate(causes)
    ... ]
    >>> [(pair.n, pair.same, round(pair.kappa, 3)) for pair in pair_agreements(verdicts)]
    [(2, 0.5, 0.333)]
    """
    return [
        _pair(first, second, causes, others)
        for (first, causes), (second, others) in combinations(by_judge(verdicts).items(), 2)
    ]


def _pair(
    first: str, second: str, causes: Mapping[str, str], others: Mapping[str, str]
) -> PairAgreement:
    both = [(causes[key], others[key]) for key in causes if key in others]
    n = len(both)
    if not n:
        return PairAgreement(first, second, 0, math.nan, math.nan)
    same = sum(one == other for one, other in both) / n
    counts, other_counts = (Counter(column) for column in zip(*both, strict=True))
    chance = sum(counts[cause] * other_counts[cause] for cause in counts) / n**2
    return PairAgreement(first, second, n, same, _kappa(same, chance))


def joint_agreement(verdicts: Sequence[Verdict]) -> JointAgreement | None:
    """Fleiss' kappa of all judges; None for fewer than two.

    Examples
    --------
    >>> verdicts = [
    ...     Verdict(key, judge, Outcome.JUDGED, cause)
    ...     for key, causes in {"a": "RRR", "b": "BBE"}.items()
    ...     for judge, cause in zip("xyz", causes)
    ... ]
    >>> round(joint_agreement(verdicts).kappa, 3)
    0.455
    """
    judges = [*by_judge(verdicts).values()]
    if len(judges) < 2:
        return None
    keys = [key for key in judges[0] if all(key in causes for causes in judges[1:])]
    if not keys:
        return JointAgreement(0, math.nan)
    counts = [Counter(causes[key] for causes in judges) for key in keys]
    pairs = len(judges) * (len(judges) - 1)
    same = sum(n * (n - 1) for count in counts for n in count.values()) / pairs / len(keys)
    totals = sum(counts, Counter())
    chance = sum((n / totals.total()) ** 2 for n in totals.values())
    return JointAgreement(len(keys), _kappa(same, chance))


def _kappa(same: float, chance: float) -> float:
    return math.nan if chance >= 1 else (same - chance) / (1 - chance)
