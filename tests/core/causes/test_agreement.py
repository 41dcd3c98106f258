"""Kappas, against figures computed by hand."""

from __future__ import annotations

import math

import pytest

from agl1k_core.causes import (
    CAUSES,
    Miss,
    Misses,
    Outcome,
    Verdict,
    joint_agreement,
    most_named,
    pair_agreements,
    summary,
)

B, L, G = "Bird Bias", "Language Ambiguity", "Educated Guess"


def verdicts(**chosen: list[str]) -> list[Verdict]:
    """For each judge, the cause of clip 0, 1, …; empty if it gave none."""
    return [
        Verdict(f"c{n}", judge, Outcome.JUDGED if cause else Outcome.UNREADABLE, cause)
        for judge, causes in chosen.items()
        for n, cause in enumerate(causes)
    ]


def test_cohens_kappa_by_hand() -> None:
    # the same in 5 of 6 = 30/36; chance (3·2 + 2·3 + 1·1) / 36 = 13/36; (30 - 13) / (36 - 13)
    (pair,) = pair_agreements(verdicts(one=[B, B, B, L, L, G], two=[B, B, L, L, L, G]))
    assert pair.n == 6
    assert pair.same == pytest.approx(5 / 6)
    assert pair.kappa == pytest.approx(17 / 23)


def test_only_clips_that_both_judged_count() -> None:
    (pair,) = pair_agreements(verdicts(one=[B, L, "", G], two=[B, G, L, ""]))
    assert (pair.n, pair.same) == (2, 0.5)
    # chance: bird 1·1 of 4
    assert pair.kappa == pytest.approx((0.5 - 0.25) / 0.75)


def test_a_single_cause_leaves_kappa_undefined() -> None:
    (pair,) = pair_agreements(verdicts(one=[B, B], two=[B, B]))
    assert pair.same == 1
    assert math.isnan(pair.kappa)
    (apart,) = pair_agreements(verdicts(one=[B, ""], two=["", B]))
    assert apart.n == 0
    assert math.isnan(apart.same)


def test_fleiss_kappa_by_hand() -> None:
    # agreeing pairs of the 3 per clip: 3, 1, 0, 3, on average 7/12 = 84/144
    # shares: 4/12, 6/12, 2/12; chance (16 + 36 + 4) / 144; kappa (84 - 56) / (144 - 56)
    judged = verdicts(one=[B, L, B, L], two=[B, L, L, L], three=[B, G, G, L])
    found = joint_agreement(judged)
    assert found is not None
    assert found.n == 4
    assert found.kappa == pytest.approx(28 / 88)


def test_fleiss_needs_two_judges_and_a_clip_of_all() -> None:
    assert joint_agreement(verdicts(one=[B])) is None
    found = joint_agreement(verdicts(one=[B, ""], two=["", B]))
    assert found is not None
    assert found.n == 0
    assert math.isnan(found.kappa)


def test_the_cause_of_most_judges() -> None:
    judged = verdicts(one=[B, B, G], two=[B, L, L], three=[L, "", G])
    assert most_named(judged) == {"c0": B, "c1": "", "c2": G}


def test_a_summary_counts_every_verdict() -> None:
    judged = [*verdicts(one=[B, B, L, ""], two=[L, B, L, G])]
    refusals = [Verdict("c9", judge, Outcome.BY_STATUS, "Refusal") for judge in ("one", "two")]
    misses = Misses(tuple(Miss(f"c{n}", "Chile") for n in range(5)), 12, 7)
    told = summary(misses, [*judged, *refusals])
    one, two = told["judges"]
    assert [one["causes"][cause]["n"] for cause in CAUSES] == [2, 1, 0, 0, 0, 0, 1]
    assert one["causes"][B]["share"] == 0.5
    assert one["outcomes"]["unreadable"] == 1
    assert (one["n"], two["n"]) == (4, 5)
    assert told["most_named"] == {
        "n": 5,
        "causes": {
            cause: {"n": n, "share": pytest.approx(n / 4)}
            for cause, n in zip(CAUSES, [1, 1, 0, 0, 0, 1, 1], strict=True)
        },
        "tied": 1,
    }
    # refusals that nobody judged say nothing about agreement
    assert told["agreement"][0]["n"] == 3
