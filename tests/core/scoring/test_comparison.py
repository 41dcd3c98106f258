"""Two evaluations on their common clips, ranks, and what a notebook shows."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core.answers import Status
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import Predictions
from agl1k_core.scoring import (
    CLIP_METRICS,
    LOWER_IS_BETTER,
    PAPER,
    PEOPLE,
    Evaluation,
    Rank,
    ScoredRows,
    clip_values,
    compare,
    evaluate,
    rank,
    rank_among,
)
from tests.core.conftest import CLIPS, predictions_of

Maker = Callable[..., Predictions]

KEYS = ["paris", "nairobi", "suva", "windhoek"]
TRUTH = [(48.86, 2.35), (-1.29, 36.82), (-18.14, 178.44), (-22.56, 17.08)]
FOUR = Benchmark("four", "Four", "1", CLIPS)

records = st.lists(
    st.tuples(st.integers(0, 3), st.floats(-90, 90), st.sampled_from(Status)), max_size=8
)


def _guesses(made: list[tuple[int, float, Status]]) -> Evaluation:
    """Players' records: a clip may have several, or none."""
    keys = [KEYS[clip] for clip, _, _ in made]
    points = [(lat, 20.0) for _, lat, _ in made]
    status = [status for _, _, status in made]
    return evaluate(FOUR, predictions_of(keys, points, status=status), PEOPLE, intervals=False)


@settings(max_examples=40)
@given(records, records)
def test_common_clips_are_those_for_which_both_have_a_value(
    first: list[tuple[int, float, Status]], second: list[tuple[int, float, Status]]
) -> None:
    a, b = _guesses(first), _guesses(second)
    found, turned = compare(a, b), compare(b, a)
    means = [e.table.groupby("key")["distance_km"].mean() for e in (a, b)]
    common = sorted({*means[0].index} & {*means[1].index})
    pair = found["distance_km"]
    assert found.n_common == pair.n_common == len(common)
    if common:
        expected = [float(of_one[common].mean()) for of_one in means]
        assert [pair.first, pair.second] == pytest.approx(expected, rel=1e-9)
        assert pair.difference == pytest.approx(expected[0] - expected[1], rel=1e-9, abs=1e-6)
        assert pair.low - 1e-2 <= pair.difference <= pair.high + 1e-2
    for metric in CLIP_METRICS:
        assert found[metric].difference == pytest.approx(-turned[metric].difference, nan_ok=True)
        swapped = {"first": "second", "second": "first", "": ""}
        assert found.better(metric) == swapped[turned.better(metric)]


def test_a_clip_counts_by_metric(make_predictions: Maker) -> None:
    """By the paper's protocol a record without a point has no distance, but may be a refusal."""
    unusable = [*TRUTH[:3], ("somewhere", "else")]
    status = [Status.ANSWERED] * 3 + [Status.UNPARSEABLE]
    a = evaluate(FOUR, make_predictions(KEYS, unusable, status=status), PAPER)
    b = evaluate(FOUR, make_predictions(KEYS[1:], TRUTH[1:]), PAPER)
    found = compare(a, b)
    assert found.n_common == 3
    assert found["reject_rate"].n_common == 3
    assert found["distance_km"].n_common == 2
    assert compare(a, b, subset="speech").n_common == 0
    assert np.isnan(compare(a, b, subset="speech")["distance_km"].difference)


def test_few_clips_decide_nothing(make_predictions: Maker) -> None:
    near = evaluate(FOUR, make_predictions(KEYS, TRUTH))
    far = evaluate(FOUR, make_predictions(KEYS, [(0, 100), (60, 0), (0, 0), (40, 40)]))
    found = compare(near, far)
    assert found["distance_km"].difference < 0 < found["geoscore"].difference
    assert found.better("distance_km") == ""  # four clips decide nothing
    assert list(found) == list(CLIP_METRICS)
    assert len(compare(near, far, metrics=["geoscore"])) == 1
    assert rank([far, near], "geoscore") == [None, None]
    assert rank([], "geoscore") == []


@pytest.fixture(scope="module")
def many() -> tuple[Evaluation, Evaluation]:
    """Near and far answers for the same four clips, ten times."""
    clips = tuple(replace(clip, key=f"{clip.key}{i}") for i in range(10) for clip in CLIPS)
    benchmark = Benchmark("many", "Many", "1", clips)
    keys = [clip.key for clip in clips]
    near = predictions_of(keys, TRUTH * 10)
    far = predictions_of(keys, [(0, 100), (60, 0), (0, 0), (40, 40)] * 10)
    return evaluate(benchmark, near), evaluate(benchmark, far)


def test_better_and_ranks_follow_the_direction_of_the_metric(
    many: tuple[Evaluation, Evaluation],
) -> None:
    near, far = many
    found = compare(near, far)
    assert found.better("distance_km") == found.better("geoscore") == "first"
    assert {"distance_km"} <= LOWER_IS_BETTER
    assert found.better("reject_rate") == ""
    first, second = Rank(1, 1, 1), Rank(2, 2, 2)
    assert rank([far, near], "geoscore") == rank([far, near], "distance_km") == [second, first]
    assert rank([far, near], "geoscore", subset="animal") == [second, first]


def test_the_same_answers_in_another_order_count_once(many: tuple[Evaluation, Evaluation]) -> None:
    near, far = many
    rows = near.require_rows()
    turned = replace(near, rows=_turned(rows))
    first = Rank(1, 1, 1, tied=True)
    assert rank([near, turned, far], "distance_km") == [first, first, Rank(2, 2, 2)]


def _turned(rows: ScoredRows) -> ScoredRows:
    names = ("clip", "status_code", "values", "lat", "lon")
    return replace(rows, **{name: getattr(rows, name)[::-1] for name in names})


def test_one_of_some_clips_among_others(many: tuple[Evaluation, Evaluation]) -> None:
    near, far = many
    assert rank_among(far, [near, near], "distance_km") == Rank(3, 3, 3)
    assert rank_among(near, [far, near], "geoscore") == Rank(1, 1, 2)
    assert rank_among(near, [far], "geoscore", subset="speech") == Rank(1, 1, 1)


def test_values_of_clips_are_in_the_order_of_the_benchmark() -> None:
    made = _guesses([(3, -22.56, Status.ANSWERED), (3, 10.0, Status.REFUSED)])
    values = clip_values(made, "reject_rate")
    assert values == pytest.approx([np.nan, np.nan, np.nan, 0.5], nan_ok=True)
    assert clip_values(made, "reject_rate", subset="Africa") == pytest.approx(
        [np.nan, 0.5], nan_ok=True
    )


def test_what_cannot_be_compared_says_why(make_predictions: Maker) -> None:
    one = evaluate(FOUR, make_predictions(KEYS, TRUTH))
    other = evaluate(replace(FOUR, clips=CLIPS[:3]), make_predictions(KEYS[:3], TRUTH[:3]))
    back = Evaluation.from_dict(json.loads(json.dumps(one.to_dict())))
    actions: dict[str, list[Callable[[], object]]] = {
        "different benchmarks": [
            lambda: compare(one, other),
            lambda: rank([one, other], "geoscore"),
        ],
        "Score the prediction file again": [
            lambda: compare(one, back),
            lambda: rank([back], "geoscore"),
            lambda: back.table,
        ],
    }
    for message, tried in actions.items():
        for action in tried:
            with pytest.raises(Agl1kError, match=message):
                action()
    with pytest.raises(Agl1kError, match=r"Four has no subset 'birds'\. Choose one of speech"):
        compare(one, one, subset="birds")


def test_a_table_of_records_with_their_truth(make_predictions: Maker) -> None:
    labels = [("Europe", "France", "Lyon"), ("Asia", "Kenya", "Nairobi")]
    made = make_predictions(KEYS[:2], [TRUTH[0], ("x", "y")], labels=labels,
                            status=[Status.ANSWERED, Status.UNPARSEABLE])  # fmt: skip
    table = evaluate(FOUR, made).table
    assert table["key"].tolist() == KEYS
    assert table["status"].tolist() == ["answered", "unparseable", "missing", "missing"]
    assert table["city"].tolist() == ["Lyon", "Nairobi", "", ""]
    assert table["city_correct"].tolist() == [0, 1, 0, 0]
    assert table["continent_correct"].tolist() == [1, 0, 0, 0]
    assert table["distance_km"].tolist() == [0, 10_000, 10_000, 10_000]
    assert table["latitude"].isna().tolist() == [False, True, True, True]
    truth = table[["true_latitude", "true_longitude"]].itertuples(index=False, name=None)
    assert list(truth) == TRUTH
    assert table["true_city"].tolist() == ["Paris", "Nairobi", "Suva", "Windhoek"]
    assert table["true_country"].tolist() == ["France", "Kenya", "Fiji", "Namibia"]


def test_a_notebook_shows_plain_escaped_tables(make_predictions: Maker) -> None:
    found = evaluate(replace(FOUR, slug="<b>four</b>"), make_predictions(KEYS, TRUTH))
    shown = found._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;four&lt;/b&gt;, protocol strict, 4 clips" in shown
    assert '<th scope="row">geoscore</th><td>5,000.0</td><td>5,000.0 to 5,000.0</td>' in shown
    compared = compare(found, found, subset="Africa")._repr_html_()
    assert "2 common clips of Africa" in compared
    for text in (shown, compared):
        tags = set(re.findall(r"</?(\w+)", text))
        assert tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert html.unescape(text).count("geoscore") == 1
    without = evaluate(FOUR, make_predictions([], []), PAPER, intervals=False)._repr_html_()
    assert "<td>–</td><td></td>" in without


def test_an_unknown_protocol_names_the_known_ones(make_predictions: Maker) -> None:
    made = make_predictions(KEYS, TRUTH)
    assert evaluate(FOUR, made, "paper").to_dict() == evaluate(FOUR, made, PAPER).to_dict()
    with pytest.raises(
        Agl1kError, match=r"no protocol 'loose'\. Choose one of strict, paper, people"
    ):
        evaluate(FOUR, made, "loose")
