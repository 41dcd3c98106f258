"""Audio Localizability: the fit on data with known slopes, agreement and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import localizability, tagging
from agl1k_core.errors import Agl1kError
from agl1k_core.localizability import (
    Evidence,
    Localizability,
    Observations,
    WordMatchJudge,
    by_continent,
    fit,
    judge_agreement,
    observe,
    tagger_of,
)
from agl1k_core.localizability.model import slopes
from agl1k_core.tagging import Tags

FloatArray = npt.NDArray[np.float64]
SPEECH, BIRD, RAIN, BELL = (
    tagging.class_ids_by_name()[name] for name in ("Speech", "Bird", "Rain", "Church bell")
)
FOUR = (SPEECH, BIRD, RAIN, BELL)
NEAR_KM, FAR_KM = 10.0, 9000.0


def observations_of(
    presence: object,
    error_km: Sequence[float] | FloatArray,
    contribution: object,
    categories: tuple[str, ...] = FOUR,
) -> Observations:
    t, c = np.array(presence, dtype=float), np.array(contribution, dtype=float)
    keys = tuple(str(k) for k in range(len(error_km)))
    errors = np.array(error_km, dtype=float)
    return Observations(keys, categories[: t.shape[1]], t, errors, {"judge": c})


def known_data(seed: int, n: int = 80) -> tuple[Observations, FloatArray, FloatArray]:
    """Recordings whose contributions lie on known lines, and the lines' slopes."""
    rng = np.random.default_rng(seed)
    near_slope, far_slope = rng.uniform(0, 1, 4), rng.uniform(0, 1, 4)
    presence = rng.uniform(0.01, 1, (n, 4)) * (rng.random((n, 4)) < 0.7)
    errors = np.where(np.arange(n) % 2, NEAR_KM, FAR_KM)
    line = np.where((errors == NEAR_KM)[:, None], near_slope, far_slope)
    return observations_of(presence, errors, line * presence), near_slope, far_slope


@given(st.integers(0, 10_000))
def test_known_slopes_sets_and_scores_are_recovered(seed: int) -> None:
    observations, near, far = known_data(seed)
    model = fit(observations)
    assert model.near_slope == pytest.approx(near)
    assert model.far_slope == pytest.approx(far)
    positive = {i for i, slope in zip(FOUR, near, strict=True) if slope > 1 / 3}
    negative = {i for i, slope in zip(FOUR, far, strict=True) if slope > 1 / 3} - positive
    assert ({*model.positive}, {*model.negative}) == (positive, negative)
    t = observations.presence[5]
    expected = sum(t[j] * near[j] for j in range(4) if FOUR[j] in positive)
    expected -= sum(t[j] * far[j] for j in range(4) if FOUR[j] in negative)
    assert model.score(dict(zip(FOUR, t, strict=True))) == pytest.approx(expected)


@given(st.integers(0, 10_000))
def test_noisy_slopes_are_numpys_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((30, 3)), rng.random((30, 3))
    for column in range(3):
        (expected,), *_ = np.linalg.lstsq(x[:, column : column + 1], y[:, column], rcond=None)
        assert slopes(x, y)[column] == pytest.approx(expected)


@given(st.integers(0, 10_000), st.floats(0.01, 1))
def test_slopes_scale_with_contributions(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.1, 1, (12, 2)), rng.random((12, 2))
    assert slopes(x, y * scale) == pytest.approx(scale * slopes(x, y))
    assert slopes(x * scale, y) == pytest.approx(slopes(x, y) / scale)


@given(st.permutations(range(20)))
def test_the_order_of_recordings_does_not_matter(order: list[int]) -> None:
    observations, _, _ = known_data(3, n=20)
    shuffled = observations_of(
        observations.presence[order],
        list(observations.error_km[order]),
        observations.ratings["judge"][order],
    )
    assert fit(shuffled).near_slope == pytest.approx(fit(observations).near_slope)


@given(st.integers(1, 60))
def test_a_category_exactly_at_alpha_is_in_no_set(n: int) -> None:
    t = np.random.default_rng(n).uniform(0.01, 1, (2 * n, 1))
    errors = [NEAR_KM, FAR_KM] * n
    model = fit(observations_of(t, errors, t / 3))
    assert model.near_slope[0] == pytest.approx(1 / 3)
    assert (model.positive, model.negative) == ({}, {})
    assert [*fit(observations_of(t, errors, t / 3), alpha=0.333).positive] == [SPEECH]


def test_a_recording_exactly_at_gamma_is_far() -> None:
    model = fit(observations_of([[1.0], [1.0], [1.0]], [999.999, 1000.0, 1000.001],
                                [[0.9], [0.1], [0.3]]))  # fmt: skip
    assert model.near_slope[0] == pytest.approx(0.9)
    assert model.far_slope[0] == pytest.approx(0.2)
    assert (model.provenance["n_near"], model.provenance["n_far"]) == (1, 2)


def test_positive_takes_precedence_over_negative() -> None:
    model = fit(observations_of([[1.0], [1.0]], [NEAR_KM, FAR_KM], [[0.5], [0.9]]))
    assert model.positive == {SPEECH: 0.5}
    assert model.negative == {}


def test_a_score_exactly_at_theta_is_not_localizable() -> None:
    model = fit(observations_of([[1.0]], [NEAR_KM], [[1.0]]))
    assert model.score({SPEECH: 1.0}) == 1.0
    assert not model.is_localizable(1.0)
    assert not model.is_localizable(0.1 + 0.2 + 0.7)
    assert model.is_localizable(1.001)
    assert not model.is_localizable(float("nan"))


def test_a_category_never_present_has_no_slope() -> None:
    model = fit(observations_of([[0.0, 1.0], [0.0, 1.0]], [NEAR_KM, FAR_KM], [[1, 1], [1, 1]]))
    assert np.isnan([model.near_slope[0], model.far_slope[0]]).all()
    assert {*model.positive} == {BIRD}
    assert model.negative == {}
    assert model.score({SPEECH: 1.0}) == 0


def test_a_category_never_present_near_may_be_negative() -> None:
    model = fit(observations_of([[0.0], [0.5]], [NEAR_KM, FAR_KM], [[0.0], [0.4]]))
    assert model.negative == {SPEECH: pytest.approx(0.8)}
    assert model.score({SPEECH: 0.5}) == pytest.approx(-0.4)


def test_a_category_unknown_to_the_tagger_is_missing_not_zero() -> None:
    t = [[np.nan, 1.0], [0.5, 1.0]]
    model = fit(observations_of(t, [NEAR_KM, NEAR_KM], [[0.9, 0.5], [0.4, 0.5]]))
    assert model.near_slope == pytest.approx([0.8, 0.5])
    assert [*model.n_near] == [1, 2]


@pytest.mark.parametrize(("error_km", "p", "n"), [(NEAR_KM, 1, 0), (FAR_KM, 0, 1)])
def test_one_recording_is_enough(error_km: float, p: int, n: int) -> None:
    model = fit(observations_of([[0.5]], [error_km], [[0.4]]))
    assert (len(model.positive), len(model.negative)) == (p, n)


def test_recordings_without_an_error_belong_to_neither_fit() -> None:
    model = fit(observations_of([[1.0], [1.0]], [NEAR_KM, np.nan], [[0.4], [1.0]]))
    assert model.near_slope[0] == pytest.approx(0.4)
    assert np.isnan(model.far_slope[0])
    with pytest.raises(Agl1kError, match=r"No recording has a distance error\. Give the model's"):
        fit(observations_of([[1.0]], [np.nan], [[1.0]]))


def test_a_missing_judge_leaves_the_mean_to_the_others() -> None:
    t, errors = np.ones((3, 1)), np.full(3, NEAR_KM)
    ratings = {
        "a": np.array([[0.2], [0.4], [np.nan]]),
        "b": np.array([[0.6], [np.nan], [np.nan]]),
    }
    observations = Observations(("x", "y", "z"), (SPEECH,), t, errors, ratings)
    assert observations.contribution[:, 0] == pytest.approx([0.4, 0.4, np.nan], nan_ok=True)
    model = fit(observations)
    assert model.near_slope[0] == pytest.approx(0.4)
    assert [*model.n_near] == [2]


def test_no_judges_at_all_leave_no_slopes() -> None:
    model = fit(Observations(("x",), (SPEECH,), np.ones((1, 1)), np.array([1.0]), {}))
    assert np.isnan(model.near_slope[0])
    assert (model.positive, model.negative) == ({}, {})


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(Agl1kError, match=r"presence: \(1, 2\)'.*error_km: \(3,\)"):
        Observations(("x",), (SPEECH,), np.ones((1, 2)), np.ones(3), {})
    with pytest.raises(Agl1kError, match=r"judge contains values that are not between 0 and 1"):
        observations_of([[1.0]], [1.0], [[1.2]])


# Judges and their evidence


class OneSidedJudge:
    """Rates every category the same, and fails if the text says so."""

    def __init__(self, name: str, value: float) -> None:
        self.name, self.value = name, value
        self.asked: list[tuple[str, ...]] = []

    def rate(self, reasoning: str, categories: Sequence[str]) -> dict[str, float]:
        self.asked.append(tuple(categories))
        if reasoning == f"fail {self.name}":
            raise Agl1kError("no answer")
        return dict.fromkeys(categories, self.value)


EVIDENCE = (
    Evidence("x", {SPEECH: 0.5, BIRD: 0.0}, "good", NEAR_KM),
    Evidence("y", {BIRD: 1.0}, "fail a", FAR_KM),
)


@pytest.mark.parametrize("threads", [1, 4])
def test_every_judge_rates_what_is_present(threads: int) -> None:
    a, b = OneSidedJudge("a", 0.2), OneSidedJudge("b", 0.8)
    ticks: list[None] = []
    observations, problems = observe(
        EVIDENCE, [a, b], threads=threads, done=lambda: ticks.append(None)
    )
    assert sorted(a.asked) == [("Bird",), ("Speech",)]
    assert observations.categories == tuple(sorted([SPEECH, BIRD]))
    assert problems == ["y: no answer"]
    assert len(ticks) == 4
    bird, speech = (observations.categories.index(i) for i in (BIRD, SPEECH))
    assert observations.contribution[0, speech] == pytest.approx(0.5)
    assert np.isnan(observations.contribution[0, bird])
    assert observations.contribution[1, bird] == pytest.approx(0.8)
    assert observations.presence[1, speech] == 0


def test_a_judge_that_keeps_failing_is_not_asked_again() -> None:
    evidence = [Evidence(str(n), {SPEECH: 0.5}, "fail a", NEAR_KM) for n in range(6)]
    a, b = OneSidedJudge("a", 0.2), OneSidedJudge("b", 0.8)
    observations, problems = observe(evidence, [a, b], give_up_after=2)
    assert (len(a.asked), len(b.asked)) == (2, 6)
    assert problems[:2] == ["0: no answer", "1: no answer"]
    assert problems[-1] == "5: a is no longer asked after 2 failures in a row."
    assert observations.silent_judges == ["a"]


@given(st.integers(0, 10_000))
def test_presences_are_what_sounds(seed: int) -> None:
    observations, _, _ = known_data(seed, n=6)
    for key, row in zip(observations.keys, observations.presence, strict=True):
        presence = observations.presences[key]
        assert [presence.get(category, 0.0) for category in FOUR] == [*row]
        assert all(share > 0 for share in presence.values())


def test_judges_are_not_silent_if_nothing_sounds() -> None:
    observations, _ = observe([Evidence("x", {}, "text", NEAR_KM)], [WordMatchJudge()])
    assert observations.silent_judges == []


def test_repeated_names_are_refused() -> None:
    with pytest.raises(Agl1kError, match="Several judges have the same name: a"):
        observe(EVIDENCE, [OneSidedJudge("a", 0), OneSidedJudge("a", 1)])
    with pytest.raises(Agl1kError, match="Several recordings have the same name: x"):
        observe([EVIDENCE[0], EVIDENCE[0]], [WordMatchJudge()])


def test_from_words_to_a_model() -> None:
    evidence = [
        Evidence("x", {SPEECH: 1.0, RAIN: 0.5}, "Speech, speech in Arabic; speech again.", 5.0),
        Evidence("y", {RAIN: 1.0}, "Rain and more rain. Rain!", 5000.0),
    ]
    observations, problems = observe(evidence, [WordMatchJudge()])
    model = fit(observations)
    assert problems == []
    assert model.positive == {SPEECH: pytest.approx(0.8)}
    assert model.negative == {RAIN: pytest.approx(0.8)}
    assert model.provenance["judges"] == ["word-match"]


# Files


def tags_of(probability: object, sha256: str = "abc") -> Tags:
    return Tags("yamnet", sha256, 0.2, FOUR, 1.0, 1.0, 2.0, np.array(probability, np.float32))


@pytest.fixture
def model() -> Localizability:
    tags = tags_of([[1, 1, 1, 1]])
    observations, _, _ = known_data(7)
    return fit(observations, tagger=tagger_of(tags))


def test_a_model_survives_its_file(model: Localizability, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model.save(path)
    again = Localizability.load(path)
    assert again.to_dict() == model.to_dict()
    assert np.array_equal(again.near_slope, model.near_slope)
    provenance = json.loads(path.read_text())["provenance"]
    assert provenance["tagger"] == {"name": "yamnet", "weights_sha256": "abc", "threshold": 0.2}
    assert provenance["judges"] == ["judge"]
    assert len(provenance["data_sha256"]) == 64


def test_slopes_that_do_not_exist_are_null_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fit(observations_of([[0.5]], [NEAR_KM], [[0.4]])).save(path)
    assert json.loads(path.read_text())["categories"][0]["far_slope"] is None
    assert np.isnan(Localizability.load(path).far_slope[0])


def test_the_data_hash_tells_data_apart() -> None:
    a, _, _ = known_data(1)
    b, _, _ = known_data(2)
    again, _, _ = known_data(1)
    assert a.sha256 == again.sha256 != b.sha256


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"model\.json is not JSON"),
        ("[]", "model.json: This is not a localizability model"),
        ('{"format": "agl1k-localizability-1"}', "cannot be read: KeyError 'categories'"),
        (
            '{"format": "agl1k-localizability-1", "categories": [{"id": "x", "near_slope": "a"}]}',
            "cannot be read: ValueError could not convert",
        ),
    ],
)
def test_files_without_a_model_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(content)
    with pytest.raises(Agl1kError, match=message):
        Localizability.load(path)


def test_a_missing_file_is_named(tmp_path: Path, model: Localizability) -> None:
    with pytest.raises(Agl1kError, match=r"model\.json: .*cannot be opened: No such file"):
        Localizability.load(tmp_path / "model.json")
    with pytest.raises(Agl1kError, match=r"model\.json cannot be written: No such file"):
        model.save(tmp_path / "none" / "model.json")


def test_tags_are_scored_by_their_own_model_only(model: Localizability) -> None:
    tags = tags_of([[1, 0, 0, 0], [1, 1, 0, 0]])
    assert model.score_tags(tags) == pytest.approx(model.score({SPEECH: 1.0, BIRD: 0.5}))
    with pytest.raises(
        Agl1kError, match=r"fitted to the tags of .*abc.* these tags come from .*other"
    ):
        model.score_tags(tags_of([[1, 0, 0, 0]], "other"))


def test_parts_add_up_to_the_score(model: Localizability) -> None:
    presence = dict.fromkeys(FOUR, 0.5) | {"/m/unknown": 1.0}
    parts = model.parts(presence)
    assert sum(parts.values()) == pytest.approx(model.score(presence))
    assert all(value > 0 for i, value in parts.items() if i in model.positive)
    assert all(value < 0 for i, value in parts.items() if i in model.negative)


def test_top_categories_are_the_steepest() -> None:
    t = np.eye(4)
    near = fit(observations_of(t, [NEAR_KM] * 4, np.diag([0.5, 0.9, 0.7, 0.1])))
    assert near.top(2) == ([("Bird", 0.9), ("Rain", 0.7)], [])
    far = fit(observations_of(t, [FAR_KM] * 4, np.diag([0.5, 0.9, 0.7, 0.1])))
    assert far.top()[1] == [("Bird", 0.9), ("Rain", 0.7), ("Speech", 0.5)]


def test_every_class_of_audioset_has_a_name_of_its_own() -> None:
    assert len(tagging.class_ids_by_name()) == 527


# Agreement


def two_judges(a: object, b: object) -> Observations:
    x, y = np.array(a, dtype=float), np.array(b, dtype=float)
    ids = tuple(tagging.audioset_classes())[: x.shape[1]]
    keys = tuple(str(k) for k in range(len(x)))
    return Observations(keys, ids, np.ones(x.shape), np.ones(len(x)), {"a": x, "b": y})


@settings(max_examples=40)
@given(st.integers(0, 999), st.floats(0.1, 1))
def test_a_judge_that_only_scales_agrees_fully(seed: int, scale: float) -> None:
    rated = np.random.default_rng(seed).random((12, 15))
    found = judge_agreement(two_judges(rated, rated * scale))
    for matrix in (found.cosine, found.pearson, found.overlap):
        assert matrix == pytest.approx(np.ones((2, 2)))


def test_agreement_by_hand() -> None:
    found = judge_agreement(
        two_judges([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0], [0, 0, 1]])
    )
    # Clip 1: (1, 0, .5) and (1, 0, 0); clip 2: at right angles.
    assert found.cosine[0, 1] == pytest.approx((1 / np.sqrt(1.25) + 0) / 2)
    assert found.pearson[0, 1] == pytest.approx(np.corrcoef([1, 1, 0.5], [1, 0, 1])[0, 1])
    assert found.overlap[0, 1] == pytest.approx(2 / 3)
    row = found.to_frame().iloc[0]
    assert (row["judge"], row["other_judge"]) == ("a", "b")
    assert row["top_10_overlap"] == pytest.approx(2 / 3)


def test_only_ten_categories_count_as_the_top() -> None:
    a = np.arange(20, 0, -1)[np.newaxis] / 20
    b = np.roll(a, 5)
    assert judge_agreement(two_judges(a, b)).overlap[0, 1] == pytest.approx(0.5)


def test_agreement_counts_only_what_both_rated() -> None:
    a = np.array([[1.0, 0.2], [np.nan, np.nan]])
    b = np.array([[1.0, 0.2], [0.3, 0.9]])
    assert judge_agreement(two_judges(a, b)).cosine[0, 1] == pytest.approx(1)


def test_judges_with_nothing_in_common_have_no_agreement() -> None:
    found = judge_agreement(two_judges([[np.nan, np.nan]], [[1.0, 0.5]]))
    assert np.isnan([found.cosine[0, 1], found.pearson[0, 1], found.overlap[0, 1]]).all()


def test_one_judge_has_no_pairs() -> None:
    assert judge_agreement(observations_of([[1.0]], [1.0], [[1.0]])).to_frame().empty


def test_localizability_by_continent() -> None:
    table = by_continent([1, 2, 3, 9, np.nan, 5], ["Asia", "Asia", "Africa", "", "Asia", "Africa"])
    assert [*table["continent"]] == ["Africa", "Asia"]
    assert [*table["mean"]] == [4, 1.5]
    assert [*table["n"]] == [2, 2]
    assert table["sd"][1] == pytest.approx(np.sqrt(0.5))
    assert by_continent([], []).empty
    with pytest.raises(ValueError, match="1 scores and 0 continents"):
        by_continent([1.0], [])


# Figures


def test_the_figure_of_top_categories_has_both_sides(model: Localizability) -> None:
    figure = localizability.top_categories_figure(model)
    positive, negative = model.top()
    assert [*figure.data[0].y] == [name for name, _ in positive]
    assert [*figure.data[0].x] == [slope for _, slope in positive]
    assert [*figure.data[1].y] == ([name for name, _ in negative] or ["none"])


def test_the_figure_of_examples_adds_up(model: Localizability) -> None:
    presences: dict[str, Mapping[str, float]] = {
        "a": {SPEECH: 1.0, BIRD: 0.2},
        "b": {RAIN: 1.0, BELL: 0.9},
        "c": {},
    }
    figure = localizability.examples_figure(model, presences, n_parts=2)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    marks = next(trace for trace in figure.data if trace.type == "scatter")
    totals = np.sum([bar.x for bar in bars], axis=0)
    assert totals == pytest.approx([*marks.x])
    assert [*marks.x] == sorted(model.score(presence) for presence in presences.values())
    assert "<b>0.00</b>" in " ".join(marks.y)


def test_the_figure_of_agreement_shows_what_is_missing_as_a_dash() -> None:
    found = judge_agreement(two_judges([[np.nan, np.nan]], [[1.0, 0.5]]))
    figure = localizability.agreement_figure(found)
    assert len(figure.data) == 3
    assert figure.data[0].text[0][1] == "–"
    assert figure.data[0].text[1][1] == "1.00"


def test_the_figure_of_continents_has_a_box_for_each() -> None:
    scores = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 9.0, "e": float("nan")}
    continents = {"a": "Asia", "b": "Asia", "c": "Africa", "e": "Africa"}
    figure = localizability.continents_figure(scores, continents)
    assert [box.name for box in figure.data] == ["Asia<br>n = 2", "Africa<br>n = 1"]
    assert [*figure.data[0].y] == [1.0, 2.0]
