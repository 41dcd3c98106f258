from __future__ import annotations

import re

from leaderboard.attempts import attempt_problem, claim, random_claim


def test_a_claim_follows_from_the_attempt_and_all_that_it_is_of() -> None:
    made = claim("an attempt", "toy", "a hash")
    assert made == claim("an attempt", "toy", "a hash")
    others = [
        claim("another", "toy", "a hash"),
        claim("an attempt", "toy", "a hash", number=1),
        claim("an attempt", "toya", " hash"),
        claim("an attempt", "toy"),
        random_claim(),
        random_claim(),
    ]
    assert len({each.key for each in [made, *others]}) == 7
    assert len({each.submission_id for each in [made, *others]}) == 7


def test_claims_look_like_random_ones() -> None:
    for each in (claim("an attempt", "\ud800"), random_claim()):
        assert re.fullmatch("[0-9a-f]{32}", each.submission_id)
        assert re.fullmatch(r"[\w-]{32}", each.key)


def test_attempts_that_can_be_guessed_are_refused() -> None:
    assert attempt_problem("") is None
    assert attempt_problem("x" * 20) is None
    assert "20 to 200" in str(attempt_problem("x" * 19))
    assert "20 to 200" in str(attempt_problem("x" * 201))
