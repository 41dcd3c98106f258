"""Tables of verdicts: what is written is read again, and what is wrong is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.causes import (
    CAUSES,
    Miss,
    Misses,
    Outcome,
    Verdict,
    merged,
    read_verdicts,
    with_refusals,
    write_verdicts,
)
from agl1k_core.errors import FileRefusedError

MISSES = {key: Miss(key, "Chile", "Peru", (1.0, 2.0), 9.5, "words") for key in ("a", "b", "c")}
B, G = "Bird Bias", "Educated Guess"


def judged(key: str, cause: str = B, judge: str = "one", fingerprint: str = "") -> Verdict:
    return Verdict(key, judge, Outcome.JUDGED, cause, "so", fingerprint)


ANSWERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.tuples(st.sampled_from(["", *CAUSES]), ANSWERS), max_size=3))
def test_a_table_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("v") / "verdicts.csv"
    verdicts = [
        Verdict("abc"[n], "one", Outcome.JUDGED if cause else Outcome.UNREADABLE, cause, said, "f")
        for n, (cause, said) in enumerate(found)
    ]
    write_verdicts(path, verdicts, MISSES)
    assert read_verdicts(path) == [
        replace(verdict, answer=verdict.answer.replace("\0", "\ufffd")) for verdict in verdicts
    ]


def test_a_persons_own_table_needs_three_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("Key;Judge;Cause\na;me;bird bias\nb;me;\n")
    first, second = read_verdicts(path)
    assert (first.cause, first.outcome) == (B, Outcome.JUDGED)
    assert (second.cause, second.outcome) == ("", Outcome.UNREADABLE)


def test_all_problems_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        "key,judge,cause,outcome\n,me,Bird Bias,\na,,Bird Bias,\nb,me,Weather,\n"
        "c,me,Bird Bias,failed\nc,me,Bird Bias,odd\n"
    )
    with pytest.raises(FileRefusedError) as refused:
        read_verdicts(path)
    told = str(refused.value)
    for part in (
        "line 2, field key: it is empty", "line 3, clip a, field judge: it is empty",
        "line 4, clip b, field cause: 'Weather' is not a cause. Give one of Bird Bias",
        "line 5, clip c, field cause", "line 6, clip c, field outcome: 'odd' is not an outcome",
        "line 6, clip c, field judge: me has already judged the clip",
    ):  # fmt: skip
        assert part in told
    path.write_text("key,cause\na,Refusal\n")
    with pytest.raises(FileRefusedError, match="there is no column 'judge'"):
        read_verdicts(path)


def test_later_verdicts_win_unless_they_failed() -> None:
    failed = Verdict("b", "one", Outcome.FAILED)
    found, others = merged([[judged("a"), judged("b")], [judged("a", G), failed]], MISSES)
    assert [(verdict.key, verdict.cause) for verdict in found] == [("a", G), ("b", B)]
    assert others == []


def test_verdicts_on_other_answers_do_not_count_and_are_not_lost() -> None:
    old, gone = judged("a", B, "one", "0123"), judged("z")
    found, others = merged([[old, gone, judged("b", G)]], MISSES)
    assert [verdict.key for verdict in found] == ["b"]
    assert others == [old, gone]
    found, others = merged([[old], [judged("a", G)]], MISSES)
    assert [verdict.cause for verdict in found] == [G]
    assert others == []


def test_every_judge_has_the_refusals() -> None:
    misses = Misses((MISSES["a"], Miss("r", "Chile", is_refusal=True)), 2, 0)
    own = judged("r", B, "two")
    found = with_refusals([judged("a"), judged("a", B, "two"), own], misses)
    assert [(v.judge, v.key, v.cause, v.outcome) for v in found[3:]] == [
        ("one", "r", "Refusal", Outcome.BY_STATUS)
    ]
    assert own in found
