"""How many misses have which cause: by judge, and by most of the judges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agl1k_core.causes.agreement import by_judge, joint_agreement, pair_agreements
from agl1k_core.causes.model import CAUSES, Misses, Outcome, Verdict


def counts_of(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """For each judge, the number of misses by cause, in the order of ``CAUSES``."""
    found: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        counts = found.setdefault(verdict.judge, Counter())
        if verdict.cause:
            counts[verdict.cause] += 1
    return {judge: {cause: counts[cause] for cause in CAUSES} for judge, counts in found.items()}


def most_named(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """For each miss, the cause that most judges chose; empty if several share that place.

    Examples
    --------
    >>> most_named(
    ...     [
    ...         Verdict("a", "one", Outcome.JUDGED, "Refusal"),
    ...         Verdict("a", "two", Outcome.JUDGED, "Refusal"),
    ...         Verdict("b", "one", Outcome.JUDGED, "Refusal"),
    ...         Verdict("b", "two", Outcome.JUDGED, "Bird Bias"),
    ...     ]
    ... )
    {'a': 'Refusal', 'b': ''}
    """
    votes: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        if verdict.cause:
            votes.setdefault(verdict.key, Counter())[verdict.cause] += 1
    return {key: _first_alone(counts) for key, counts in votes.items()}


def _first_alone(counts: Counter[str]) -> str:
    (cause, n), *others = counts.most_common(2)
    return "" if others and others[0][1] == n else cause


def summary(misses: Misses, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """All numbers as plain data; those that are not defined are None.

    The shares of a judge are of the misses for which it has a cause.
    """
    named = most_named(verdicts)
    joint = joint_agreement(verdicts)
    return {
        "n_records": misses.n_records,
        "n_right": misses.n_right,
        "n_misses": len(misses.misses),
        "left_out": dict(misses.left_out),
        "judges": [
            _of_judge(name, counts, verdicts) for name, counts in counts_of(verdicts).items()
        ],
        "most_named": {
            "n": len(named),
            "causes": _shares({cause: [*named.values()].count(cause) for cause in CAUSES}),
            "tied": [*named.values()].count(""),
        },
        "agreement": [_plain(asdict(pair)) for pair in pair_agreements(verdicts)],
        "fleiss": None if joint is None else _plain(asdict(joint)),
        "n_judged_by_several": _n_shared(verdicts),
    }


def _of_judge(name: str, counts: Mapping[str, int], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    outcomes = Counter(verdict.outcome for verdict in verdicts if verdict.judge == name)
    return {
        "judge": name,
        "n": sum(counts.values()),
        "causes": _shares(counts),
        "outcomes": {str(outcome): outcomes[outcome] for outcome in Outcome},
    }


def _shares(counts: Mapping[str, int]) -> dict[str, dict[str, float | None]]:
    total = sum(counts.values())
    return {cause: {"n": n, "share": n / total if total else None} for cause, n in counts.items()}


def _n_shared(verdicts: Sequence[Verdict]) -> int:
    """How many misses at least two judged."""
    times = Counter(key for causes in by_judge(verdicts).values() for key in causes)
    return sum(n > 1 for n in times.values())


def _plain(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in numbers.items()
    }
